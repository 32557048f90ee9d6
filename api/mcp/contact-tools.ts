import Type from 'typebox'
import { feedTypes } from '../../db/analytics/feed.ts'
import { suppressionReasons } from '../../db/reputation/suppression.ts'
import { about, Cursor, Email, Id } from '../schemas.ts'
import type { Contact, CursorPage, Suppression } from './answers.ts'
import { briefData, counted, viewed } from './brief.ts'
import { briefContact, contactOf, suppressionOf } from './people.ts'
import { adding, defineTool, reading, saving } from './tool.ts'

const limit = (most: number, byDefault: number) =>
	Type.Optional(
		Type.Integer({ minimum: 1, maximum: most, description: `${byDefault} by default.` }),
	)
const person = {
	contactId: Type.Optional(about('The contact.', Id)),
	address: Type.Optional(
		about('The address of the contact. Used if there is no contactId.', Email),
	),
}

export const findContact = defineTool({
	name: 'find_contact',
	title: 'Find contacts',
	description:
		'Finds contacts by a part of their address, newest first, or counts them. Each has its id, its subscription and its data. To see why a person gets no mail, use explain_mail; for their history, contact_timeline.',
	annotations: reading,
	input: {
		search: Type.Optional(
			Type.String({ maxLength: 254, description: 'A part of the address, or all of it.' }),
		),
		subscribed: Type.Optional(
			Type.Boolean({ description: 'Only contacts who have subscribed, or only others.' }),
		),
		cursor: Cursor,
		limit: limit(25, 10),
	},
	async run({ limit = 10, ...query }, { ask }) {
		const found = await ask<CursorPage<Contact>>('GET', '/contacts', { query: { ...query, limit } })
		const { total, hasMore, cursor } = found
		const isFirst = query.cursor === undefined
		return {
			text: isFirst ? `${counted(total, 'contact')} found.` : 'The next page.',
			data: {
				contacts: await viewed(found.data, briefContact),
				...(isFirst && { total }),
				hasMore,
				...(cursor && { cursor }),
			},
		}
	},
})

export const contactTimeline = defineTool({
	name: 'contact_timeline',
	title: 'Show the timeline of a contact',
	description:
		'Lists everything that happened to one contact, newest first: mails sent, delivered, opened, clicked and bounced, tracked events, and workflows. Covers the last 30 days unless startDate is set.',
	annotations: reading,
	input: {
		...person,
		types: Type.Optional(
			Type.Array(Type.Enum([...feedTypes]), { description: 'Only entries of these types.' }),
		),
		startDate: Type.Optional(Type.String({ description: 'Such as 2026-01-31.' })),
		cursor: Cursor,
		limit: limit(50, 20),
	},
	async run({ contactId, address, types, startDate, cursor, limit = 20 }, context) {
		const contact = await contactOf(context, {
			...(contactId && { contactId }),
			...(address && { address }),
		})
		const query = {
			contactId: contact.id,
			types: types?.join(','),
			startDate,
			cursor,
			limit,
		}
		const found = await context.ask<CursorPage<{ metadata: unknown }>>('GET', '/activity', {
			query,
		})
		return {
			text: `${counted(found.data.length, 'entry', 'entries')} on this page${found.hasMore ? '; there are more' : ''}.`,
			data: {
				contact: briefContact(contact),
				entries: await viewed(found.data, (entry) => ({
					...entry,
					metadata: briefData(entry.metadata),
				})),
				hasMore: found.hasMore,
				...(found.cursor && { cursor: found.cursor }),
			},
		}
	},
})

export const upsertContact = defineTool({
	name: 'upsert_contact',
	title: 'Create or update a contact',
	description:
		'Creates the contact with this address, or changes the one that has it. Data that is left out stays as it is; null deletes a field. Set subscribed only if the person has agreed, or asked to leave: without it an existing contact stays as it is, and a new one is subscribed.',
	annotations: saving,
	input: {
		email: about('The address. It identifies the contact.', Email),
		subscribed: Type.Optional(Type.Boolean({ description: 'Whether they get marketing mail.' })),
		data: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), {
				description: 'Fields to store, such as {"name": "Ann", "plan": "pro"}.',
			}),
		),
	},
	async run(body, { ask }) {
		const { _meta, ...contact } = await ask<Contact & { _meta: { isNew: boolean } }>(
			'POST',
			'/contacts',
			{ body },
		)
		return {
			text: _meta.isNew ? 'The contact was created.' : 'The contact existed and was updated.',
			data: { contact: briefContact(contact), isNew: _meta.isNew },
		}
	},
})

export const trackEvent = defineTool({
	name: 'track_event',
	title: 'Track an event',
	description:
		'Records that something happened to a person, such as "signup" or "order". Workflows and segments may react to it, so a workflow may send mail. The contact is created if there is none.',
	annotations: adding,
	input: {
		email: about('The person.', Email),
		event: Type.String({ minLength: 1, description: 'The name of the event.' }),
		data: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), {
				description:
					'Stored on the contact and passed to workflows. {"total": {"value": 30, "persistent": false}} is only passed on.',
			}),
		),
		subscribed: Type.Optional(
			Type.Boolean({ description: 'Changes the subscription. A new contact is subscribed.' }),
		),
		idempotencyKey: Type.Optional(
			Type.String({
				minLength: 1,
				maxLength: 255,
				description: 'A repeated call with the same key within a day is refused.',
			}),
		),
	},
	async run({ idempotencyKey, ...body }, { ask }) {
		const { data } = await ask<{ data: object }>('POST', '/events/track', { body, idempotencyKey })
		return { text: 'The event was recorded.', data }
	},
})

export const checkSuppressions = defineTool({
	name: 'check_suppressions',
	title: 'Check the suppression list',
	description:
		'Says whether one address is on the suppression list and why, or lists the addresses on it, newest first. Suppressed addresses bounced, complained or were added by hand, and get no mail of any type.',
	annotations: reading,
	input: {
		address: Type.Optional(about('Check only this address.', Email)),
		reason: Type.Optional(
			about('List only addresses with this reason.', Type.Enum([...suppressionReasons])),
		),
		cursor: Cursor,
		limit: limit(50, 20),
	},
	async run({ address, limit = 20, ...query }, context) {
		if (address !== undefined) {
			const suppression = await suppressionOf(context, address)
			return {
				text: suppression
					? `This address is suppressed (${suppression.reason}), so it gets no mail.`
					: 'This address is not suppressed.',
				data: { isSuppressed: suppression !== null, suppression },
			}
		}
		const found = await context.ask<CursorPage<Suppression>>('GET', '/suppressions', {
			query: { ...query, limit },
		})
		const { data, cursor, hasMore, total } = found
		const isFirst = query.cursor === undefined
		return {
			text: isFirst ? `${counted(total, 'address', 'addresses')} suppressed.` : 'The next page.',
			data: { suppressions: data, ...(isFirst && { total }), hasMore, ...(cursor && { cursor }) },
		}
	},
})
