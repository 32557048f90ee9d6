import Type from 'typebox'
import { about, Id } from '../schemas.ts'
import type { Mail } from './answers.ts'
import { only } from './brief.ts'
import { path } from './route-calls.ts'
import { defineTool, destroying } from './tool.ts'

export const changeScheduledMail = defineTool({
	name: 'change_scheduled_mail',
	title: 'Move or cancel a scheduled mail',
	description:
		'With `at`, moves a mail that has not left yet to another time. Without it, cancels the mail, which can’t be undone. A mail that has left, or is leaving at this moment, is refused. search_mails with status SCHEDULED finds such mails.',
	annotations: destroying,
	input: {
		emailId: about('The mail.', Id),
		at: Type.Optional(
			about(
				'The new time, with a time zone, at most 30 days ahead. A time in the past means now.',
				Type.String({ format: 'date-time' }),
			),
		),
	},
	async run({ emailId, at }, { ask }) {
		const mail =
			at === undefined
				? await ask<Mail>('POST', path`/emails/${emailId}/cancel`)
				: await ask<Mail>('PATCH', path`/emails/${emailId}`, { body: { delivery: { at } } })
		return {
			text: `The mail is ${mail.status}.`,
			data: { mail: only(mail, 'id', 'to', 'status', 'scheduledFor') },
		}
	},
})
