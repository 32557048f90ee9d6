import type { EmailWithAttempts } from '../index.ts'
import { type Command, wordOf } from './command.ts'
import { rows } from './output.ts'

export const emailsGet: Command = {
	usage: 'ID',
	mostWords: 1,
	summary: 'Show a mail with its status and every delivery attempt.',
	options: {},
	help: {},
	async run(context) {
		const { tempost, out, signal } = context
		const email = await tempost.emails.get(wordOf(context, 'The id of a mail'), { signal })
		out.show(email, () => textOfMail(email))
	},
}

const textOfMail = ({ attempts, ...mail }: EmailWithAttempts) =>
	[
		rows({
			Status: mail.status,
			To: mail.to,
			From: mail.from,
			Subject: mail.subject,
			Error: mail.error,
			Created: mail.createdAt,
			Sent: mail.sentAt,
			Delivered: mail.deliveredAt,
			Opened: mail.openedAt,
			Clicked: mail.clickedAt,
			Bounced: mail.bouncedAt,
		}),
		...attempts.map(({ at, outcome, provider, error }) =>
			['Attempt:     ', at, outcome, provider, error].filter((part) => part).join(' '),
		),
	].join('\n')
