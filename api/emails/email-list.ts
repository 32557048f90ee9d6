import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import {
	Email as EmailRow,
	emailStatuses,
	rareStatuses,
	sourceTypes,
} from '../../db/emails/email.ts'
import {
	countSearched,
	type MailFilter,
	type MailSearch,
	readSearch,
	searchFloor,
	searchMails,
} from '../../db/emails/mail-search.ts'
import { mailTotal } from '../../db/emails/mail-total.ts'
import { countScheduled, scheduledMails } from '../../db/emails/scheduling.ts'
import {
	about,
	Cursor,
	cursorPage,
	decodeCursor,
	encodeCursor,
	Id,
	Nullable,
	Timestamp,
} from '../schemas.ts'
import { withSenders } from './campaign-senders.ts'
import { Email, type EmailRoutes, viewOf } from './email-view.ts'
import { bodiesOf } from './mail-bodies.ts'

const Filter = Type.Object({
	contactId: Type.Optional(about('Only mails to this contact.', Id)),
	status: Type.Optional(about('Only mails with this status.', Type.Enum([...emailStatuses]))),
	sourceType: Type.Optional(about('Only mails from this source.', Type.Enum([...sourceTypes]))),
	campaignId: Type.Optional(about('Only mails of this campaign.', Id)),
})
type Filter = Type.Static<typeof Filter>
type OrNull<T> = { [Name in keyof T]: T[Name] | null }

const Query = Type.Object({
	...Filter.properties,
	search: Type.Optional(
		Type.String({
			maxLength: 1000,
			description:
				'An address, the id of a mail, the beginning of an address, or words of a subject. Words are found in the newest 20,000 mails; `from` and `to` choose others.',
		}),
	),
	from: Type.Optional(about('Only mails accepted since then.', Timestamp)),
	to: Type.Optional(about('Only mails accepted until then.', Timestamp)),
	bodies: Type.Boolean({
		default: true,
		description: 'false leaves the contents out: `body` is null. Browsers may keep such an answer.',
	}),
	cursor: Cursor,
	limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
})
const hasBodies = ({ query }: FastifyRequest) => (query as Type.Static<typeof Query>).bodies

const Found = Type.Object({
	...cursorPage(Email).properties,
	searchedSince: Type.Optional(
		about('Subjects of mails older than this were not searched. Absent: all were.', Timestamp),
	),
})

/** The id of the last mail, and for a search by words the oldest mail that is searched. */
const Position = Type.Union([Type.Tuple([Id]), Type.Tuple([Id, Nullable(Id)])])

/** A part of the list. */
interface Chosen {
	ids: string[]
	total: () => Promise<number>
	search?: MailSearch
}

export const emailList: FastifyPluginAsyncTypebox<EmailRoutes> = async (
	app,
	{ pool, publicUrl },
) => {
	app.get(
		'/emails',
		{
			config: { auth: 'secret key or session', neverKept: hasBodies },
			schema: {
				tags: ['emails'],
				summary: 'List mails, newest first',
				description:
					'A page ends early if its bodies exceed 16 MB or take long to render. With `search`, `from` or `to`, `total` is counted up to 10,000, and only for a second.',
				querystring: Query,
				response: { 200: Found },
			},
		},
		async ({
			em,
			project,
			query: { cursor, limit, search, from, to, bodies: isWhole, ...filter },
		}) => {
			const where = { ...foundBy(filter), projectId: project.id }
			const size = Math.min(limit, 100)
			const [before, floor] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const page = { before: before ?? null, limit: size + 1 }
			const chosen = await choose(
				{ ...filter, projectId: project.id, from, to },
				search,
				page,
				floor,
			)
			const rows = await em.find(
				EmailRow,
				{
					...where,
					...(before === undefined ? {} : { id: { $lt: before } }),
					...(chosen && { id: { $in: chosen.ids } }),
				},
				{ exclude: ['body', 'text'], orderBy: { id: 'desc' }, limit: size + 1 },
			)
			const ids = rows.slice(0, size).map(({ id }) => id)
			const bodies = isWhole
				? await bodiesOf({ pool, publicUrl, projectId: project.id }, ids)
				: new Map(ids.map((id) => [id, null]))
			const shown = rows.filter(({ id }) => bodies.has(id))
			const data = (await withSenders(em, project.id, shown)).map((row) =>
				viewOf(row, bodies.get(row.id) ?? null),
			)
			const hasMore = data.length > 0 && rows.length > data.length
			const total = () =>
				chosen
					? chosen.total()
					: Object.keys(filter).length > 0
						? em.count(EmailRow, where)
						: mailTotal(pool, { projectId: project.id }).then(([counted]) => counted!.total)
			const oldest = chosen?.search?.by === 'words' ? chosen.search.floor : null
			return {
				data,
				...(hasMore
					? { cursor: encodeCursor([data.at(-1)!.id, ...(oldest ? [oldest] : [])]) }
					: {}),
				hasMore,
				total: cursor === undefined ? await total() : 0,
				...(oldest && { searchedSince: await acceptedAt(em, project.id, oldest) }),
			}
		},
	)

	/** The mails of a page, where they are not found by the filter alone. */
	async function choose(
		filter: MailFilter & Filter,
		given: string | undefined,
		page: { before: string | null; limit: number },
		floor: string | null | undefined,
	): Promise<Chosen | null> {
		const search = readSearch(given)
		if (search.by === 'nothing' && !filter.from && !filter.to)
			return filter.status === 'SCHEDULED' ? scheduledPage(filter, page) : null
		if (search.by === 'words')
			search.floor = later(await searchFloor(pool, filter, page.before), floor ?? null)
		const [ids, counted] = await Promise.all([
			searchMails(pool, filter, search, page),
			page.before === null ? countSearched(pool, filter, search) : null,
		])
		return { ids, total: async () => counted ?? ids.length, search }
	}

	/** Scheduled mails are found among each other, not among all mails. */
	async function scheduledPage(
		{
			projectId,
			contactId = null,
			sourceType = null,
			campaignId = null,
		}: OrNull<Filter> & { projectId: string },
		page: { before: string | null; limit: number },
	) {
		const wanted = { projectId, contactId, sourceType, campaignId }
		const found = await scheduledMails(pool, { ...wanted, ...page })
		return {
			ids: found.map(({ id }) => id),
			total: async () => (await countScheduled(pool, wanted))[0]!.total,
		}
	}
}

const later = (one: string | null, other: string | null) =>
	one !== null && other !== null && one < other ? other : (one ?? other)

/** When a mail was accepted; of one that is gone, when its id was made, with whose milliseconds it begins. */
async function acceptedAt(em: FastifyRequest['em'], projectId: string, id: string) {
	const mail = await em.findOne(EmailRow, { projectId, id }, { fields: ['createdAt'] })
	return mail?.createdAt ?? new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16))
}

/** The few mails of a rare status are found without reading others. */
function foundBy({ status, ...filter }: Filter) {
	if (status === undefined) return filter
	return rareStatuses.some((rare) => rare === status)
		? { ...filter, rareStatus: status }
		: { ...filter, status }
}
