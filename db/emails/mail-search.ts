import type { Pool, PoolClient } from 'pg'
import { normalizeEmail } from '../address.ts'
import { keepsMonth } from '../partitions.ts'
import { containing } from '../like.ts'
import { int, text, uuid } from '../sql-types.ts'
import { always, joined, query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { readWithin } from '../timed-reading.ts'
import { type Period, within } from '../within.ts'
import { rareStatuses } from './email.ts'

// Searches in the ledger, which has no index on subjects and addresses: one for ten million mails would cost every
// mail a write. Mails of a person are found by their contact, and words only in the subjects of the newest mails.

/** How many of the newest mails are searched for words. At 10,000,000 mails this takes less than 0.1 s. */
const newestSearched = 20_000
/** People whose address begins with the text, and how many addresses are looked at to find them. */
const mostPeople = 100
const addressesRead = 1000
const mostCounted = 10_000
const countMs = 1000

/** The period is that in which mails were accepted. */
export interface MailFilter extends Period {
	projectId: string
	contactId?: string | undefined
	status?: string | undefined
	sourceType?: string | undefined
	campaignId?: string | undefined
}

/** The text of a search, as what it may be. */
export type MailSearch =
	| { by: 'nothing' }
	| { by: 'id'; id: string }
	| { by: 'address'; address: string }
	| { by: 'words'; words: string[]; beginning: string | null; floor: string | null }

/** A predicate on mails `e`. */
export function matching({
	projectId,
	contactId,
	status,
	sourceType,
	campaignId,
	from,
	to,
}: MailFilter): Sql {
	const where = [sql`e.project_id = ${uuid.value(projectId)}`]
	if (contactId !== undefined) where.push(sql`e.contact_id = ${uuid.value(contactId)}`)
	if (sourceType !== undefined)
		where.push(sql`source_of_mail(e.source_type) = ${text.value(sourceType)}`)
	if (campaignId !== undefined) where.push(sql`e.campaign_id = ${uuid.value(campaignId)}`)
	if (status !== undefined) {
		const isRare = rareStatuses.some((rare) => rare === status)
		where.push(
			isRare ? sql`e.rare_status = ${text.value(status)}` : sql`e.status = ${text.value(status)}`,
		)
	}
	where.push(...within({ from, to }, { id: sql`e.id`, time: sql`e.created_at` }))
	return joined(where, ' and ')
}

const isBefore = (before: string | null) =>
	before === null ? always : sql`e.id < ${uuid.value(before)}`

const floorOf = query('floor-of-mail-search', { id: uuid })

/**
 * The oldest mail whose subject is searched; null: there are no older ones. On a later page, the bound that
 * no cursor can move.
 */
export async function searchFloor(
	pool: Pool,
	{ projectId, from, to }: MailFilter,
	before: string | null,
) {
	const [floor] = await floorOf(
		pool,
		sql`select e.id from emails e where ${matching({ projectId, from, to })} and ${isBefore(before)}
			order by e.id desc offset ${int.value(newestSearched - 1)} limit 1`,
	)
	return floor?.id ?? null
}

/** A part of the list, newest first. */
const find = query('page-of-mails', {
	ids: uuid.array,
	/** Changes whenever one of these mails changes, or a campaign that gives one of them its sender. */
	version: text.orNull,
})

interface Place {
	before: string | null
	limit: number
}

/** A page of the mails that a filter and a search leave. `xmin` is the transaction that wrote a row. */
export async function searchMails(
	db: PoolClient,
	filter: MailFilter,
	search: MailSearch,
	{ before, limit }: Place,
) {
	const meant = sql`${matching(filter)} and ${isBefore(before)}`
	const [page] = await find(
		db,
		sql`select coalesce(array_agg(e.id order by e.id desc), '{}') as ids,
			string_agg(concat(e.xmin, ' ', c.xmin), ',' order by e.id desc) as version
		from (${found(filter, search, meant, limit)}) f
		join emails e on e.project_id = ${uuid.value(filter.projectId)} and e.id = f.id
		left join campaigns c on e."from" is null and c.project_id = e.project_id and c.id = e.campaign_id`,
	)
	return page!
}

/** Mails `e`. Scheduled ones are found among each other, not among all. */
const mailsOf = ({ status }: MailFilter) =>
	status === 'SCHEDULED'
		? sql`scheduled_sends s join emails e on e.project_id = s.project_id and e.id = s.email_id`
		: sql`emails e`

const count = query('count-found-mails', { total: int })

/**
 * All mails of a project are counted by quarter of an hour. Those of a filter are counted for a second; if there are too
 * many, or with a search or a period, only up to `mostCounted`. Null: even that takes longer.
 */
export async function countMails(pool: Pool, filter: MailFilter, search: MailSearch) {
	const { projectId, contactId, status, sourceType, campaignId, from, to } = filter
	const isWhole = search.by === 'nothing' && !from && !to
	if (isWhole && !(contactId ?? status ?? sourceType ?? campaignId))
		return (await countOfProject(pool, { projectId }))[0]!.total
	const all = sql`${mailsOf(filter)} where ${matching(filter)}`
	const some = sql`(${found(filter, search, matching(filter), mostCounted)}) counted`
	return (isWhole ? await countWithin(pool, all) : null) ?? countWithin(pool, some)
}

async function countWithin(pool: Pool, mails: Sql) {
	const counted = await readWithin(pool, countMs, (db) =>
		count(db, sql`select count(*)::int as total from ${mails}`),
	)
	return counted && counted[0]!.total
}

/** The counts outlive the mails, so those of removed months are left out. */
const countOfProject = statement('count-mails-of-project', {
	params: { projectId: uuid },
	row: { total: int },
	text: `select coalesce(sum(created), 0)::int as total from (
		select date_trunc('month', slot at time zone 'UTC') as month, sum(created) as created from (
			select created, slot from mail_counts where project_id = $projectId
			union all
			select created, slot from mail_tallies where project_id = $projectId) counted
		group by month) months
	where ${keepsMonth('month')}`,
})

function found(filter: MailFilter, search: MailSearch, meant: Sql, limit: number): Sql {
	const newest = (where: Sql) =>
		sql`(select e.id from ${mailsOf(filter)} where ${meant} and ${where} order by e.id desc limit ${int.value(limit)})`
	const together = (...parts: Sql[]) =>
		sql`select id from (${joined(parts, ' union ')}) m order by id desc limit ${int.value(limit)}`
	const project = uuid.value(filter.projectId)
	switch (search.by) {
		case 'nothing':
			return together(newest(always))
		case 'id':
			return together(newest(sql`e.id = ${uuid.value(search.id)}`))
		case 'address': {
			const address = text.value(search.address)
			return together(
				newest(sql`e.contact_id = (
					select id from contacts where project_id = ${project} and email = ${address})`),
				// As in the index emails_of_nobody.
				newest(sql`e.contact_id is null
					and (case e.source_type when 'INBOUND' then e."from" else e."to" end) = ${address}`),
			)
		}
		case 'words': {
			const { words, beginning, floor } = search
			const recent = floor === null ? always : sql`e.id >= ${uuid.value(floor)}`
			const patterns = text.array.value(words.map(containing))
			const hasWords = sql`(e.subject ilike all(${patterns}) or e.subject is null and e.campaign_id = any(
				select id from campaigns where project_id = ${project} and subject ilike all(${patterns})))`
			const bySubject = newest(sql`${recent} and ${hasWords}`)
			if (beginning === null) return together(bySubject)
			const start = text.value(`${containing(beginning).slice(1)}`)
			const people = sql`(select m.id from (
					select id from (
						select id, email from contacts
						where project_id = ${project} and email >= ${text.value(beginning)}
						order by email limit ${int.value(addressesRead)}
					) c where email like ${start} limit ${int.value(mostPeople)}
				) person cross join lateral ${newest(sql`e.contact_id = person.id`)} m)`
			return together(bySubject, newest(sql`${recent} and e."to" like ${start}`), people)
		}
	}
}

const mostWords = 5
const anId = /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i
const anAddress = /^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/

/** Null: an empty text. */
export function readSearch(given: string | undefined): MailSearch {
	const search = given?.trim() ?? ''
	if (search === '') return { by: 'nothing' }
	if (anId.test(search)) return { by: 'id', id: search.toLowerCase() }
	if (anAddress.test(search)) return { by: 'address', address: normalizeEmail(search) }
	const words = search.split(/\s+/)
	const beginning = words.length === 1 ? normalizeEmail(search) : null
	return { by: 'words', words: words.slice(0, mostWords), beginning, floor: null }
}
