import { Link } from '@tanstack/react-router'
import { useProject } from '../shell/projects.ts'

export function TemplatesLink() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/templates" params={{ projectId: project.id }}>
			Templates
		</Link>
	)
}
