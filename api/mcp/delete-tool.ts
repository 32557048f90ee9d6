import Type from 'typebox'
import { segmentsReached } from '../../db/conditions/condition-segments.ts'
import { membersOf } from '../../db/conditions/condition.ts'
import { invalid, tooMuchToRead } from '../errors.ts'
import { about, Id } from '../schemas.ts'
import type { Contact, CountedPage } from './answers.ts'
import { counted } from './brief.ts'
import { ConfirmToken } from './confirmations.ts'
import { path } from './route-calls.ts'
import { defineTool, destroying, type ToolContext } from './tool.ts'

const shownPeople = 10

export const deleteContacts = defineTool({
	name: 'delete_contacts',
	title: 'Delete contacts',
	description:
		'Deletes contacts for good: those listed, the members of a segment, or those that match a search. To make people get no more marketing mail, unsubscribe them with upsert_contact instead. It takes two calls. The first, without confirmToken, deletes nothing and returns how many contacts it would be, some of them, and a confirmToken that is valid for ten minutes. After the user has agreed, call it again with the same arguments and the token.',
	annotations: destroying,
	input: {
		contactIds: Type.Optional(
			Type.Array(Id, { minItems: 1, maxItems: 1000, description: 'These contacts.' }),
		),
		segmentId: Type.Optional(about('All members of this segment.', Id)),
		search: Type.Optional(
			Type.String({
				minLength: 1,
				pattern: '\\S',
				'x-message': 'must not be blank',
				description: 'All contacts with this text in their address.',
			}),
		),
		confirmToken: ConfirmToken,
	},
	async run({ confirmToken, ...chosen }, context) {
		if (Object.keys(chosen).length !== 1)
			throw invalid({
				field: 'contactIds',
				message: 'or segmentId or search is required, and only one of them',
				code: 'required',
			})
		const { ask, project, confirmations } = context
		const now = new Date()
		const { count, some } = await meant(chosen, context)
		const act = {
			projectId: project.publicId,
			act: 'delete_contacts' as const,
			// Deleting more than was shown can't be undone, so the number must be the same.
			content: { chosen, count, segments: await rulesOf(chosen, context) },
			count,
		}
		if (confirmToken === undefined)
			return {
				text: `Nothing has been deleted. ${counted(count, 'contact')} would be deleted for good. Show this to the user; if they agree, call delete_contacts again with the same arguments and this confirmToken.`,
				data: { preview: { contacts: count, some }, ...confirmations.offer(act) },
			}
		confirmations.check(confirmToken, act)
		const { contactIds, ...filter } = chosen
		const body = contactIds
			? { contactIds }
			: { mode: 'query', filter: { ...filter, condition: createdBefore(now) } }
		const data = await ask<{ jobId: string }>('POST', '/contacts/bulk-delete', { body })
		return { text: `The deletion of ${counted(count, 'contact')} is queued.`, data }
	},
})

/** The job starts later: contacts that are created meanwhile were not shown. */
const createdBefore = (time: Date) => ({
	logic: 'AND',
	groups: [
		{ filters: [{ field: 'createdAt', operator: 'lessThanOrEqual', value: time.toISOString() }] },
	],
})

interface Chosen {
	contactIds?: string[]
	segmentId?: string
	search?: string
}

/** How many contacts the job would find now, and the addresses of some. The query finds them as the job does. */
async function meant({ contactIds, segmentId, search }: Chosen, { ask }: ToolContext) {
	if (contactIds) {
		const ids = [...new Set(contactIds.map((id) => id.toLowerCase()))]
		const found = await Promise.all(
			ids.slice(0, shownPeople).map((id) => ask<Contact>('GET', path`/contacts/${id}`)),
		)
		return { count: ids.length, some: addressesOf(found) }
	}
	const body = { segmentId, search, limit: shownPeople }
	const found = await ask<CountedPage<Contact>>('POST', '/contacts/query', { body })
	if (!found.isCounted) throw notCounted()
	return { count: found.total, some: addressesOf(found.data) }
}

/** A confirmation covers the rules of the segment, and of the segments within it. */
async function rulesOf({ segmentId }: Chosen, { pool, project }: ToolContext) {
	if (segmentId === undefined) return {}
	const members = membersOf(segmentId.toLowerCase())
	return Object.fromEntries(await segmentsReached(pool, project.id, members))
}

const notCounted = () =>
	tooMuchToRead(
		'Counting these contacts takes too long',
		'Nothing was deleted. Try again, or use a segment with trackMembership, which stores its members.',
	)

const addressesOf = (contacts: Contact[]) => contacts.map(({ email }) => email)
