import Type from 'typebox'
import { emailStatuses, sourceTypes } from '../../db/emails/email.ts'
import { invalid } from '../errors.ts'
import { about, Cursor, Email, Id } from '../schemas.ts'
import type { Contact, CursorPage, Mail, MailWithAttempts } from './answers.ts'
import { briefData, briefText, counted, only } from './brief.ts'
import { contactWith, suppressionOf } from './people.ts'
import { path } from './route-calls.ts'
import { defineTool, reading, type ToolContext } from './tool.ts'

/** The meaning of each status, and what to do about it. */
const meanings: Record<string, string> = {
	PENDING: 'It is waiting to be sent. If it has an error, an earlier attempt was put off.',
	SCHEDULED: 'It is waiting for the time in scheduledFor.',
	SENDING: 'It is being handed to the mail provider now.',
	UNCERTAIN:
		'A connection failed during the hand-over, so it may or may not have been sent. A person has to decide whether it counts as sent or is sent again.',
	SENT: 'The provider took it. Nobody has confirmed yet that it arrived: check the spam folder and the DNS records of the domain.',
	DELIVERED: 'It arrived at the mail server of the recipient.',
	OPENED: 'It arrived, and was opened.',
	CLICKED: 'It arrived, and a link in it was clicked.',
	BOUNCED:
		'The mail server of the recipient refused it. A permanent bounce suppresses the address.',
	COMPLAINED: 'It arrived, and the recipient reported it as spam. The address is now suppressed.',
	FAILED: 'It was not sent. The error says why.',
	SUPPRESSED: 'It was not sent, because the address is on the suppression list.',
	CANCELLED: 'It was not sent. The error says why it was cancelled.',
	RECEIVED: 'It is an incoming mail.',
}

const outline = (mail: Mail) => ({
	...only(mail, 'id', 'to', 'from', 'status', 'sourceType', 'campaignId', 'contactId'),
	subject: briefText(mail.subject),
	error: mail.error && briefText(mail.error),
	...only(mail, 'createdAt', 'sentAt', 'deliveredAt', 'openedAt', 'clickedAt', 'bouncedAt'),
	...(mail.scheduledFor && { scheduledFor: mail.scheduledFor }),
})

export const searchMails = defineTool({
	name: 'search_mails',
	title: 'Search mails',
	description:
		'Lists mails, newest first: to one person, of one campaign, with one status, or from one source. Use it to find the id of a mail, or mails that failed (status FAILED, BOUNCED or SUPPRESSED). The bodies are left out: explain_mail shows one mail in full.',
	annotations: reading,
	input: {
		address: Type.Optional(about('Only mails to the contact with this address.', Email)),
		status: Type.Optional(about('Only mails with this status.', Type.Enum([...emailStatuses]))),
		sourceType: Type.Optional(
			about(
				'TRANSACTIONAL: sent by an application. CAMPAIGN and WORKFLOW: sent by these. INBOUND: received.',
				Type.Enum([...sourceTypes]),
			),
		),
		campaignId: Type.Optional(about('Only mails of this campaign.', Id)),
		cursor: Cursor,
		limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: '10 by default.' })),
	},
	async run({ address, limit = 10, ...filter }, context) {
		const contact = address === undefined ? null : await contactWith(context, address)
		if (address !== undefined && !contact)
			return {
				text: 'There is no contact with this address, so no mail can be found by it.',
				data: { mails: [], hasMore: false },
			}
		const query = { ...filter, limit, ...(contact && { contactId: contact.id }) }
		const found = await context.ask<CursorPage<Mail>>('GET', '/emails', { query })
		const { cursor, hasMore, total } = found
		return {
			text: `${counted(found.data.length, 'mail')} on this page${hasMore ? '; there are more' : ''}.`,
			data: {
				mails: found.data.map(outline),
				...(filter.cursor === undefined && { total }),
				hasMore,
				...(cursor && { cursor }),
			},
		}
	},
})

export const explainMail = defineTool({
	name: 'explain_mail',
	title: 'Explain a mail',
	description:
		'Says why a mail arrived or did not arrive. Give the id of a mail, or the address of a person who misses one. The result has the mail with every delivery attempt, the meaning of its status, the person’s subscription, and whether the address is suppressed. With an address it takes the newest mail and outlines the four before it.',
	annotations: reading,
	input: {
		emailId: Type.Optional(about('The mail.', Id)),
		address: Type.Optional(about('The person. Used if there is no emailId.', Email)),
	},
	async run({ emailId, address }, context) {
		if (emailId !== undefined) return explained(await mailWith(context, emailId), context)
		if (address === undefined)
			throw invalid({
				field: 'emailId',
				message: 'or address is required',
				code: 'required',
			})
		const contact = await contactWith(context, address)
		const suppression = await suppressionOf(context, address)
		const query = { contactId: contact?.id, limit: 5 }
		const mails = contact
			? (await context.ask<CursorPage<Mail>>('GET', '/emails', { query })).data
			: []
		if (mails[0]) {
			const { text, data } = await explained(await mailWith(context, mails[0].id), context)
			return { text, data: { ...data, earlier: mails.slice(1).map(outline) } }
		}
		const barred = suppression ? ' The address is suppressed, so it gets no mail.' : ''
		return {
			text: contact
				? `There is a contact with this address, but no mail to it.${barred}`
				: `There is no contact with this address, so no mail was requested for it.${barred}`,
			data: { mail: null, contact: contact && stateOf(contact), suppression },
		}
	},
})

const mailWith = (context: ToolContext, id: string) =>
	context.ask<MailWithAttempts>('GET', path`/emails/${id}`)

async function explained(mail: MailWithAttempts, context: ToolContext) {
	const [contact, suppression] = await Promise.all([
		mail.contactId === null ? null : context.ask<Contact>('GET', path`/contacts/${mail.contactId}`),
		suppressionOf(context, mail.to),
	])
	const meaning = meanings[mail.status] ?? 'It is being processed.'
	const repeat = mail.possibleRepeat
		? ' It was sent again after a doubt, so the recipient may have two copies.'
		: ''
	return {
		text: `This mail is ${mail.status}. ${meaning}${repeat}`,
		data: {
			mail: {
				...outline(mail),
				...only(mail, 'fromName', 'templateId', 'workflowExecutionId', 'complainedAt'),
				...only(mail, 'opens', 'clicks', 'possibleRepeat'),
				body: mail.body && briefText(mail.body, 8000),
			},
			meaning,
			attempts: mail.attempts
				.slice(-20)
				.map(({ error, ...rest }) => ({ ...rest, error: error && briefText(error) })),
			contact: contact && stateOf(contact),
			suppression,
		},
	}
}

const stateOf = (contact: Contact) => ({
	...only(contact, 'id', 'email', 'subscribed', 'updatedAt'),
	data: briefData(contact.data),
})
