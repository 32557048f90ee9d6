import { useNavigate } from '@tanstack/react-router'
import type { MailboxSummary } from '../../client/index.ts'
import { useAct } from '../parts/use-act.ts'
import { useProject } from '../shell/projects.ts'
import { listKey } from './messages.ts'

/** Deletes a mail of the mailbox, and leaves it if it is open. */
export function useDeletion(openId: string | undefined) {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const { run, error } = useAct(listKey(project.id))
	const remove = ({ id, to }: Pick<MailboxSummary, 'id' | 'to'>, done?: () => void) =>
		run({
			question: {
				title: 'Delete this mail?',
				body: `The mail to ${to} goes from the mailbox for ever. The page “Emails” keeps its entry.`,
				act: 'Delete the mail',
				isDestructive: true,
			},
			act: async () => {
				await api.mailbox.delete(id)
				if (id === openId)
					await navigate({
						to: '/console/$projectId/mailbox',
						params: { projectId: project.id },
						search: (old) => old,
					})
				done?.()
			},
			said: 'The mail is deleted',
		})
	return { remove, error }
}
