import { statfs } from 'node:fs/promises'
import type { Pool } from 'pg'
import { Email } from '../../db/emails/email.ts'
import { tablesOfMonths } from '../../test/helpers/months.ts'
import { lanes } from '../load.ts'
import { content } from '../campaign/campaign-run.ts'

/** The months before this one. The oldest has this share of all mails. */
export const months = 12
const shareOfBigMonth = 0.6

/** At most, with indexes, while they are built: a mail takes about 600 bytes. */
const bytesWhileSeeded = 800
const bytesForLogs = 8 * 1024 ** 3
const filledAtOnce = 2

/** Mails of earlier campaigns, in months of their own. Fewer than wanted if the disk has no room. */
export async function seedOlderMails(pool: Pool, wanted: number, recipients: number) {
	const room = Math.floor(((await freeBytes(pool)) - bytesForLogs) / bytesWhileSeeded)
	const mails = Math.min(wanted, Math.max(0, room))
	if (mails < 1000) throw new Error(`The disk has room for ${mails} mails, which is too few`)
	const inBigMonth = Math.round(mails * shareOfBigMonth)
	const inOthers = Math.floor((mails - inBigMonth) / (months - 1))
	await copyCampaign(pool)
	for (let ago = months; ago > 0; ago--) {
		const startedAt = performance.now()
		const count = ago === months ? inBigMonth : inOthers
		const name = await fillMonth(pool, ago, count, recipients)
		const seconds = (performance.now() - startedAt) / 1000
		console.log(`${count} mails in ${name} after ${seconds.toFixed(0)} s`)
	}
	await pool.query('drop table copied')
	await pool.query('analyze emails, attempts, events, campaigns')
	const bytesPerMail = (await bytesOf(pool, await nameOf(pool, 'emails', months))) / inBigMonth
	return {
		mails: inBigMonth + inOthers * (months - 1),
		isLess: mails < wanted,
		inBigMonth,
		bytesPerMail,
	}
}

/** Of the disk that has the database. */
async function freeBytes(pool: Pool) {
	const { rows } = await pool.query<{ data_directory: string }>('show data_directory')
	const { bavail, bsize } = await statfs(rows[0]!.data_directory)
	return bavail * bsize
}

/** The mails of the latest campaign, in the order in which they were written. */
const copyCampaign = (pool: Pool) =>
	pool.query(`create unlogged table copied as
		select e.*, row_number() over (order by id) as place, id as earlier_id from emails e
		where status = 'SENT' and campaign_id = (select id from campaigns order by created_at desc limit 1)`)

/** As in db/partitions.ts, but filled before it is attached: no trigger counts its mails. */
async function fillMonth(pool: Pool, ago: number, count: number, recipients: number) {
	const name = await nameOf(pool, 'emails', ago)
	await pool.query(`create table ${name}
		(like emails including defaults including constraints including generated including storage)`)
	for (const action of Email.partitions.storage) await pool.query(`alter table ${name} ${action}`)
	const campaigns = Math.ceil(count / recipients)
	let next = 0
	await lanes(
		filledAtOnce,
		() => next < campaigns,
		() => {
			const place = next++
			const size = Math.min(recipients, count - place * recipients)
			return insertCampaign(pool, name, { ago, place: place / campaigns, size })
		},
	)
	// Does at once what autovacuum would do in time.
	await pool.query(`vacuum analyze ${name}`)
	for (const table of tablesOfMonths) {
		const { from, to } = await boundsOf(pool, ago)
		const partition = await nameOf(pool, table, ago)
		const bounds = `for values from ('${from}') to ('${to}')`
		await pool.query(
			table === 'emails'
				? `alter table emails attach partition ${partition} ${bounds}`
				: `create table ${partition} partition of ${table} ${bounds}`,
		)
	}
	return name
}

/** A campaign of this month, `place` being 0 at the month's start and 1 at its end: a copy, moved in time. */
async function insertCampaign(
	pool: Pool,
	table: string,
	{ ago, place, size }: { ago: number; place: number; size: number },
) {
	const { rows } = await pool.query<{ id: string; earlier: string }>(
		`insert into campaigns (project_id, name, subject, body, "from", from_name, type, audience_type, status,
			created_at, started_at, sent_at, closed_at)
		select project_id, 'Earlier', $1, $2, $3, $4, $5, 'ALL', 'SENT', at, at, at, at
		from (
			select project_id, ${startOf(ago)} + interval '1 day' + $6::float8 * interval '26 days' as at,
				created_at as begun_at
			from copied where place = 1) moment
		returning id, (created_at - (select created_at from copied where place = 1))::text as earlier`,
		[content.subject, content.body, content.from, content.fromName, content.type, place],
	)
	const [campaign] = rows
	const columns = await columnsOf(pool)
	const copied = columns.map(({ name, isTime }) => {
		if (name === 'id')
			return `uuidv7(uuid_extract_timestamp(earlier_id) + $2::interval - clock_timestamp())`
		if (name === 'campaign_id') return '$1::uuid'
		return isTime ? `"${name}" + $2::interval` : `"${name}"`
	})
	await pool.query(
		`insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
		select ${copied.join(', ')} from copied where place <= $3 order by place`,
		[campaign!.id, campaign!.earlier, size],
	)
}

const columnsOf = async (pool: Pool) =>
	(
		await pool.query<{ name: string; isTime: boolean }>(
			`select attname::text as name, atttypid = 'timestamptz'::regtype as "isTime" from pg_attribute
			where attrelid = 'emails'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
		)
	).rows

/** The start of the month that is so many months ago. */
export const startOf = (ago: number) =>
	`((date_trunc('month', now() at time zone 'UTC') - interval '${ago} months') at time zone 'UTC')`

async function nameOf(pool: Pool, table: string, ago: number) {
	const { rows } = await pool.query<{ name: string }>(
		`select $1 || to_char(${startOf(ago)} at time zone 'UTC', '_YYYY_MM') as name`,
		[table],
	)
	return rows[0]!.name
}

async function boundsOf(pool: Pool, ago: number) {
	const { rows } = await pool.query<{ from: string; to: string }>(
		`select first_id_at(${startOf(ago)})::text as from, first_id_at(${startOf(ago - 1)})::text as to`,
	)
	return rows[0]!
}

async function bytesOf(pool: Pool, table: string) {
	const { rows } = await pool.query<{ bytes: number }>(
		'select pg_total_relation_size($1::regclass)::float8 as bytes',
		[table],
	)
	return rows[0]!.bytes
}
