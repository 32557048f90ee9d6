import { Link } from '@tanstack/react-router'
import type { Segment } from '../../client/index.ts'
import { useProject } from '../shell/projects.ts'

export function ToSegments() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/segments" params={{ projectId: project.id }}>
			Segments
		</Link>
	)
}

export function ToSegment({ segment }: { segment: Pick<Segment, 'id' | 'name'> }) {
	const { project } = useProject()
	const params = { projectId: project.id, segmentId: segment.id }
	return (
		<Link to="/console/$projectId/segments/$segmentId" params={params}>
			{segment.name}
		</Link>
	)
}
