import { Link } from '@tanstack/react-router'
import { useProject } from '../shell/projects.ts'

export function CampaignsLink() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/campaigns" params={{ projectId: project.id }}>
			Campaigns
		</Link>
	)
}
