import { Link } from '@tanstack/react-router'
import { useProject } from '../shell/projects.ts'

export function ToContacts() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/contacts" params={{ projectId: project.id }}>
			Contacts
		</Link>
	)
}
