import { performance } from 'node:perf_hooks'
import type { Pool } from 'pg'
import type { Row } from '../table.ts'

const atOnce = 20_000
const days = 90

/**
 * The analytics of a project with this many mails in the last 90 days: the counts of all mails, by quarter
 * of an hour and by campaign, events for every fifth of their outcomes, and the project's own events in
 * between. The mails themselves are missing, because analytics never reads them.
 */
export async function seedAnalytics(pool: Pool, projectId: string, mails: number): Promise<Row[]> {
	const contacts = Math.ceil(mails / 100)
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, 'contact-' || i || '@example.org', true from generate_series(1, $2::int) i`,
		[projectId, contacts],
	)
	await seedCounts(pool, projectId, mails)
	await seedExecutions(pool, projectId)
	const rows = [await seedEvents(pool, projectId, Math.ceil(mails / 5), contacts)]
	// Does at once what autovacuum would do in time.
	for (const table of ['contacts', 'events', 'event_counts', 'event_tallies', 'mail_counts'])
		await pool.query(`vacuum analyze ${table}`)
	for (const table of ['mail_tallies', 'executions', 'feed_entries', 'campaigns'])
		await pool.query(`vacuum analyze ${table}`)
	return rows
}

async function seedCounts(pool: Pool, projectId: string, mails: number) {
	await pool.query(
		`insert into mail_counts
			(project_id, slot, sent, delivered, opened, clicked, bounced, sent_opened, sent_clicked)
		select $1, slot, n, n * 0.97, n * 0.3, n * 0.06, n * 0.01, n * 0.3, n * 0.06
		from generate_series(date_bin('15 minutes', now(), '2000-01-01Z') - interval '${days} days',
				now(), '15 minutes') slot,
			lateral (select $2::float8 / (${days} * 96) as n) rate`,
		[projectId, mails],
	)
	await pool.query(
		`with campaign as (
			insert into campaigns (project_id, name, subject, body, "from", audience_type, status,
				created_at, started_at, sent_at, closed_at)
			select $1, 'Campaign ' || i, 'News ' || i, repeat('<p>Hello</p>', 300), 'a@example.com', 'ALL',
				'SENT', at, at, at, at
			from generate_series(1, 1000) i, lateral (select now() - i * interval '2 hours' as at) at
			returning project_id, id
		)
		insert into campaign_counts (project_id, campaign_id, sent, delivered, opened, clicked)
		select project_id, id, n, n * 0.97, n * random(), n * 0.06
		from campaign, lateral (select $2::float8 / 1000 as n) size`,
		[projectId, mails],
	)
}

/** One running execution per contact. */
async function seedExecutions(pool: Pool, projectId: string) {
	await pool.query(
		`with automation as (
			insert into automations (project_id, name, enabled, current_version)
			values ($1, 'Welcome', true, 1) returning project_id, id
		)
		insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select project_id, id, 1, '{}', 'hash', '{}' from automation`,
		[projectId],
	)
	await pool.query(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status,
			wakes_at, due_at)
		select $1, a.id, 1, c.id, false, 'WAITING', wakes_at, wakes_at
		from automations a, contacts c, lateral (select now() + random() * interval '60 days') w(wakes_at)
		where a.project_id = $1 and c.project_id = $1 and c.id is not null`,
		[projectId],
	)
}

async function seedEvents(
	pool: Pool,
	projectId: string,
	count: number,
	contacts: number,
): Promise<Row> {
	await pool.query('create table seeded as select id, row_number() over () as n from contacts')
	await pool.query('create unique index on seeded (n)')
	await pool.query('vacuum analyze seeded')
	const startedAt = performance.now()
	for (let first = 0; first < count; first += atOnce)
		await pool.query(
			`insert into events (project_id, id, created_at, contact_id, name, data)
			select $1, uuidv7(age), now() + age, s.id, name, case when name like 'email.%'
				then jsonb_build_object('subject', 'News ' || i, 'from', 'a@example.com', 'fromName', 'Shop',
					'messageId', '<' || s.id || '@example.com>', 'emailId', s.id, 'campaignId', s.id,
					'sourceType', 'CAMPAIGN', 'sentAt', now() + age)
				else jsonb_build_object('product', 'p' || i % 1000, 'price', i % 100) end
			from generate_series($2::bigint, least($2 + ${atOnce}, $4::bigint) - 1) i,
				lateral (select ($4 - i) * (interval '-${days} days' / $4::float8) as age,
					case when i % 100 < 40 then 'email.sent' when i % 100 < 78 then 'email.delivery'
						when i % 100 < 90 then 'email.open' when i % 100 < 94 then 'email.click'
						when i % 100 < 95 then 'contact.unsubscribed'
						else 'event ' || i % 1000 % 17 end as name) e,
				seeded s
			where s.n = 1 + i * 7919 % $3::bigint`,
			[projectId, first, contacts, count],
		)
	const seconds = (performance.now() - startedAt) / 1000
	return {
		what: 'events inserted by SQL, with all that hangs on them',
		reached: `${(count / seconds).toFixed(0)} rows/s`,
		target: '',
		floor: '',
		isMet: true,
	}
}
