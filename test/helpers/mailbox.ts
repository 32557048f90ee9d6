import type { ExecutionContext } from 'ava'
import type { InjectOptions } from 'fastify'
import { mailboxOf } from '../../activities/delivery/mailbox.ts'
import { localProvider } from '../../outside/providers/local.ts'
import { composeMessage } from '../../mail/compose.ts'
import type { Tracking } from '../../mail/tracked-urls.ts'
import type { Email } from '../../db/emails/email.ts'
import { attachmentsOf } from '../../db/emails/ledger.ts'
import { setupSend } from './send.ts'

type MailRow = Email & { contactId: string; replyTo: string | null; body: string }

/** Does what a worker with the local provider does with a mail, except for the ledger. */
export const setupMailbox = async (t: ExecutionContext, tracking: Tracking | null = null) =>
	landingIn(t, await setupSend(t), tracking)

/** Lets the mail of an API land in its mailbox. */
export function landingIn<All extends Awaited<ReturnType<typeof setupSend>>>(
	t: ExecutionContext,
	all: All,
	tracking: Tracking | null,
) {
	const { app, pool, project, sent } = all
	const provider = localProvider({ store: mailboxOf(pool) })
	const get = (url: string, options: InjectOptions = {}) => app.inject({ url, ...options })
	const messages = async (query = '') => {
		const response = await get(`/mailbox/messages${query}`)
		t.is(response.statusCode, 200, response.body)
		return response.json().messages as { id: string; to: string; subject: string; read: boolean }[]
	}
	return {
		...all,
		get,
		messages,
		async land(changes: object = {}) {
			const mail = await sent(changes)
			const rows = await attachmentsOf(pool, {
				projectId: project.id,
				requestIds: [mail.requestId!],
			})
			const files = rows.map((row) => ({
				filename: row.filename,
				content: row.content,
				contentType: row.content_type,
				contentId: row.content_id,
				disposition: row.inline ? ('inline' as const) : ('attachment' as const),
			}))
			const message = composeMessage(
				Object.assign({}, mail as MailRow & { subject: string }, {
					emailId: mail.id,
					headers: mail.headers ?? null,
					language: mail.language ?? null,
					type: mail.type!,
					from: { email: mail.from!, name: mail.fromName ?? null },
					to: { email: mail.to, name: mail.toName ?? null },
				}),
				files,
				'http://localhost:3000',
				tracking,
			)
			await provider.deliver(message)
			const [landed] = await messages('?limit=1')
			return { mail, id: landed!.id, landAgain: () => provider.deliver(message) }
		},
	}
}
