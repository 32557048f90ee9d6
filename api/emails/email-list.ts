import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Email as EmailRow, emailStatuses, sourceTypes } from '../../db/emails/email.ts'
import {
	countMails,
	type MailFilter,
	readSearch,
	searchFloor,
	searchMails,
} from '../../db/emails/mail-search.ts'
import { mailRecords } from '../../db/emails/mail-records.ts'
import { readOrScan } from '../../db/timed-reading.ts'
import { tooMuchToRead } from '../errors.ts'
import { answersByVersion } from '../requests/conditional.ts'
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
import { Email, type EmailRoutes, viewOf } from './email-view.ts'
import { contentsOf } from './mail-contents.ts'

const Query = Type.Object({
	contactId: Type.Optional(about('Only mails to this contact.', Id)),
	status: Type.Optional(about('Only mails with this status.', Type.Enum([...emailStatuses]))),
	sourceType: Type.Optional(about('Only mails from this source.', Type.Enum([...sourceTypes]))),
	campaignId: Type.Optional(about('Only mails of this campaign.', Id)),
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
		description:
			'false leaves the contents out: `body` is null, and the `subject` of a campaign’s mail that has not left is not rendered. Browsers may keep such an answer.',
	}),
	cursor: Cursor,
	limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
})
const mostMs = 5000
const hasBodies = ({ query }: FastifyRequest) => (query as Type.Static<typeof Query>).bodies

const Found = Type.Object({
	...cursorPage(Email).properties,
	searchedSince: Type.Optional(
		about('Subjects of mails older than this were not searched. Absent: all were.', Timestamp),
	),
})

/** The id of the last mail, and for a search by words the oldest mail that is searched. */
const Position = Type.Union([Type.Tuple([Id]), Type.Tuple([Id, Nullable(Id)])])

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
					'A page ends early if its bodies exceed 16 MB or take long to render. `total` is counted for a second: with a filter that leaves too many mails, and with `search`, `from` or `to`, only up to 10,000.',
				querystring: Query,
				response: { 200: Found },
			},
		},
		async (request, reply) => {
			const { em, project, query } = request
			const { cursor, limit, search, bodies: isWhole, ...filter } = query
			const size = Math.min(limit, 100)
			const [before, floor] = cursor === undefined ? [] : decodeCursor(Position, cursor)
			const page = { before: before ?? null, limit: size + 1 }
			const found = await find({ ...filter, projectId: project.id }, search, page, floor ?? null)
			if (answersByVersion(request, reply, found)) return reply
			const ids = found.ids.slice(0, size)
			const contents = isWhole
				? await contentsOf({ pool, publicUrl, projectId: project.id }, ids)
				: null
			const shown = contents ? [...contents.keys()] : ids
			const records = await mailRecords(pool, { projectId: project.id, ids: shown })
			const data = records.map((record) => viewOf(record, contents?.get(record.id)))
			const last = data.at(-1)?.id
			const hasMore = last !== undefined && (found.ids.length > size || shown.length < ids.length)
			const { oldest } = found
			return {
				data,
				...(hasMore ? { cursor: encodeCursor([last, ...(oldest ? [oldest] : [])]) } : {}),
				hasMore,
				total: found.total,
				...(oldest && { searchedSince: await acceptedAt(em, project.id, oldest) }),
			}
		},
	)

	/** The mails of a page, and what changes once the answer would be another. */
	async function find(
		filter: MailFilter,
		given: string | undefined,
		page: { before: string | null; limit: number },
		floor: string | null,
	) {
		const search = readSearch(given)
		if (search.by === 'words')
			search.floor = later(await searchFloor(pool, filter, page.before), floor)
		const isCounted = page.before === null
		const [found, counted] = await Promise.all([
			readOrScan(pool, filter.projectId, mostMs, (db) => searchMails(db, filter, search, page)),
			isCounted ? countMails(pool, filter, search) : null,
		])
		if (!found) throw tooManyMails()
		const total = isCounted ? (counted ?? found.ids.length) : 0
		const oldest = search.by === 'words' ? search.floor : null
		return { ...found, total, oldest }
	}
}

const tooManyMails = () =>
	tooMuchToRead('These mails take too long to find', 'Give `from` and `to` for a shorter period.')

const later = (one: string | null, other: string | null) =>
	one !== null && other !== null && one < other ? other : (one ?? other)

/** When a mail was accepted; of one that is gone, when its id was made, with whose milliseconds it begins. */
async function acceptedAt(em: FastifyRequest['em'], projectId: string, id: string) {
	const mail = await em.findOne(EmailRow, { projectId, id }, { fields: ['createdAt'] })
	return mail?.createdAt ?? new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16))
}
