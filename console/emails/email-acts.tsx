import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { EmailWithAttempts } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Fault } from '../parts/fault.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { MoveDialog } from './move-dialog.tsx'

/** What can be done with a mail in its present state. */
export function EmailActs({ mail }: { mail: EmailWithAttempts }) {
	const { error, resolve, cancel, resend } = useActs(mail)
	const [isMoving, setMoving] = useState(false)
	if (mail.status === 'UNCERTAIN')
		return (
			<>
				<Fault error={error} />
				<Button onClick={() => resolve('sent')}>It was sent</Button>
				<Button onClick={() => resolve('retry')}>Send it again</Button>
			</>
		)
	if (mail.status === 'SCHEDULED')
		return (
			<>
				<Fault error={error} />
				<Button onClick={() => setMoving(true)}>Move</Button>
				<Button kind="danger" onClick={cancel}>
					Cancel the mail
				</Button>
				<MoveDialog mail={mail} isOpen={isMoving} onClose={() => setMoving(false)} />
			</>
		)
	if (mail.sourceType === 'INBOUND' || unsettled.has(mail.status)) return <Fault error={error} />
	return (
		<>
			<Fault error={error} />
			<Button onClick={resend}>Send again</Button>
		</>
	)
}

const unsettled = new Set(['PENDING', 'SENDING'])

function useActs(mail: EmailWithAttempts) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = useNavigate()
	const { mutate, error } = useMutation({
		mutationFn: ({ act }: { act: () => Promise<unknown>; said: string }) => act(),
		onSuccess: async (_answer, { said }) => {
			toast({ title: said })
			await queries.invalidateQueries({ queryKey: [project.id, 'emails'] })
		},
	})
	const ask = async (
		question: Parameters<typeof confirm>[0],
		act: () => Promise<unknown>,
		said: string,
	) => {
		if (await confirm(question)) mutate({ act, said })
	}
	return {
		error,
		resolve: (as: 'sent' | 'retry') =>
			void ask(
				as === 'sent'
					? {
							title: 'Count this mail as sent?',
							body: `Nothing is sent. If it never arrived, ${mail.to} does not get it.`,
							act: 'Count it as sent',
						}
					: {
							title: 'Send this mail again?',
							body: `If the first one did arrive, ${mail.to} gets it twice.`,
							act: 'Send it again',
						},
				() => api.emails.resolve(mail.id, { as }),
				as === 'sent' ? 'The mail counts as sent' : 'The mail is being sent again',
			),
		cancel: () =>
			void ask(
				{
					title: 'Cancel this mail?',
					body: `${mail.to} does not get it. This cannot be undone.`,
					act: 'Cancel the mail',
					isDestructive: true,
				},
				() => api.emails.cancel(mail.id),
				'The mail is cancelled',
			),
		resend: () =>
			void ask(
				{
					title: 'Send this mail again?',
					body: mail.sentAt
						? `${mail.to} gets a second mail with the same content.`
						: `The first one was not sent: ${mail.error ?? 'nobody knows why'}.`,
					act: 'Send it again',
				},
				async () => {
					const { id } = await api.emails.resend(mail.id)
					await navigate({
						to: '/console/$projectId/emails/$emailId',
						params: { projectId: project.id, emailId: id },
					})
				},
				'The mail is sent again. This is the new one.',
			),
	}
}
