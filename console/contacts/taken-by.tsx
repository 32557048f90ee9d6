import { Link } from '@tanstack/react-router'
import { useProject } from '../shell/projects.ts'

/** The contact that has an address already, when the API names it. */
export function TakenBy({ details: { contactId } }: { details: Record<string, unknown> }) {
	const { project } = useProject()
	if (typeof contactId !== 'string') return null
	return (
		<p>
			<Link
				to="/console/$projectId/contacts/$contactId"
				params={{ projectId: project.id, contactId }}
			>
				Open the other contact
			</Link>
		</p>
	)
}
