import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import test from 'ava'
import type { Pool } from 'pg'
import { housekeepingActivities } from '../activities/housekeeping.ts'
import { chores } from '../db/housekeeping.ts'
import { email, setupLinks } from './helpers/account-links.ts'
import { createProject, setup } from './helpers/app.ts'
import { setupFeed } from './helpers/feed.ts'
import { happenedBefore, splitIntoMonths } from './helpers/months.ts'
import { setupSend } from './helpers/send.ts'
import { addedEndpoint } from './helpers/webhooks.ts'

const logger = new DefaultLogger('ERROR', () => {})
const keepHouse = (pool: Pool, bodyRetentionDays = 90, ledgerRetentionDays?: number) =>
	new MockActivityEnvironment({}, { logger }).run(
		housekeepingActivities({
			pool,
			settings: { bodyRetentionDays, ledgerRetentionDays },
			stopping: new AbortController().signal,
		}).keepHouse,
	) as Promise<string>

test('contents of mails are deleted after their time; the ledger and unsent mails stay', async (t) => {
	const { pool, sent, app, withSecretKey } = await setupSend(t)
	const files = [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }]
	const old = await sent({ attachments: files })
	const waiting = await sent({ attachments: files })
	const doubted = await sent({ attachments: files })
	const young = await sent({ attachments: files })
	const since = (id: string, age: string, status: string) =>
		pool.query(`update emails set status = $2, created_at = now() - $3::interval where id = $1`, [
			id,
			status,
			age,
		])
	await since(old.id, '31 days', 'DELIVERED')
	await since(waiting.id, '31 days', 'PENDING')
	await since(doubted.id, '31 days', 'UNCERTAIN')
	await since(young.id, '29 days', 'SENT')
	t.is(await keepHouse(pool, 30), 'bodies of mails: 1')
	t.is(await keepHouse(pool, 30), 'nothing was due')
	const { rows } = await pool.query(
		`select e.id, e.body is null as is_purged, count(a.position)::int as files
		from emails e left join attachments a on a.request_id = e.request_id group by e.project_id, e.id`,
	)
	const state = Object.fromEntries(rows.map((row) => [row.id, [row.is_purged, row.files]]))
	t.deepEqual(state[old.id], [true, 0])
	for (const { id } of [waiting, doubted, young]) t.deepEqual(state[id], [false, 1])
	const shown = await app.inject({ url: `/emails/${old.id}`, headers: withSecretKey })
	t.like(shown.json(), { body: null, status: 'DELIVERED', attachments: [{ filename: 'a.txt' }] })
})

test('the files of mails are deleted with their mails, however long contents may be kept', async (t) => {
	const { pool, sent } = await setupSend(t)
	await splitIntoMonths(pool, 3)
	await sent({ attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }] })
	await pool.query(`update emails set status = 'SENT', created_at = now() - interval '3 months'`)
	await happenedBefore(pool, 3)
	const left = async () => [
		(await pool.query('select from emails')).rowCount,
		(await pool.query('select from attachments')).rowCount,
	]
	t.deepEqual(await left(), [1, 1])
	t.is(await keepHouse(pool, 90, 30), 'bodies of mails: 1, tables of old months: 3')
	t.deepEqual(await left(), [0, 0])
})

test('activities of mails are removed with the month in which they happened; others stay', async (t) => {
	const { pool, project, mail, feed } = await setupFeed(t)
	await splitIntoMonths(pool, 3)
	await mail()
	await happenedBefore(pool, 3)
	await pool.query(`update emails set status = 'FAILED'`)
	await pool.query(
		`insert into feed_entries (project_id, type)
		select $1, unnest('{campaign.sent,workflow.started,workflow.completed,workflow.email.scheduled}'::text[])`,
		[project.id],
	)
	await pool.query(`update feed_entries set at = now() - interval '3 months'`)
	await mail({ status: 'FAILED' })
	const shown = async () =>
		(await feed('?startDate=2020-01-01T00:00:00Z')).data.map(({ type }) => type).toSorted()
	const stay = ['campaign.sent', 'email.failed', 'workflow.completed', 'workflow.started']
	const all = [...stay, 'email.failed', 'workflow.email.scheduled'].toSorted()
	t.deepEqual(await shown(), all)
	for (const days of [undefined, 365]) t.is(await keepHouse(pool, 90, days), 'nothing was due')
	t.deepEqual(await shown(), all)
	t.is(await keepHouse(pool, 90, 30), 'activities of old mails: 2, tables of old months: 3')
	t.deepEqual(await shown(), stay)
})

test('links of our own mails are deleted an hour after they were sent', async (t) => {
	const { pool, signup, mailTo, post } = await setupLinks(t)
	await signup()
	await pool.query(`update emails set status = 'SENT', created_at = now() - interval '59 minutes'`)
	await keepHouse(pool)
	const { token } = await mailTo(email)
	t.is((await post('/auth/verify-email', { token })).statusCode, 200)
	await post('/auth/request-password-reset', { email })
	await pool.query(`update emails set created_at = created_at - interval '1 hour'`)
	t.is(await keepHouse(pool), 'contents of our own mails: 1')
	const { rows } = await pool.query(
		'select status, body is null as is_purged from emails order by id',
	)
	t.deepEqual(rows, [
		{ status: 'SENT', is_purged: true },
		{ status: 'PENDING', is_purged: false },
	])
})

test('deliveries of webhooks are deleted after 30 days, those of deleted endpoints at once', async (t) => {
	const { pool, project } = await setup(t)
	const [kept, deleted] = [
		await addedEndpoint(pool, project.id, 'https://example.com/', ['*']),
		await addedEndpoint(pool, project.id, 'https://example.com/', ['*']),
	]
	for (const endpoint of [kept, deleted])
		for (const age of ['31 days', '29 days', '0 days'])
			await pool.query(
				`insert into webhook_deliveries (project_id, endpoint_id, id, event_id, type, occurred_at, status)
				values ($1, $2, uuidv7(-$3::interval), uuidv7(), 'event.x', now(), 'HELD')`,
				[project.id, endpoint, age],
			)
	await pool.query(
		`update webhook_endpoints set deleted_at = now() - interval '25 hours' where id = $1`,
		[deleted],
	)
	t.is(await keepHouse(pool), 'old deliveries of webhooks: 4, deleted webhook endpoints: 1')
	t.is(await keepHouse(pool), 'nothing was due')
	const { rows } = await pool.query('select endpoint_id from webhook_deliveries')
	t.deepEqual(rows, [{ endpoint_id: kept }, { endpoint_id: kept }])
})

test('the files of a request stay while one of its mails is waiting', async (t) => {
	const { pool, send } = await setupSend(t)
	const files = [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }]
	const answer = await send({ to: ['a@example.org', 'b@example.org'], attachments: files })
	const [first, second] = answer.json().data.emails as { email: string }[]
	await pool.query(`update emails set created_at = now() - interval '99 days'`)
	const settle = (id: string) => pool.query(`update emails set status = 'SENT' where id = $1`, [id])
	await settle(first!.email)
	await keepHouse(pool)
	t.is((await pool.query('select from attachments')).rowCount, 1)
	await settle(second!.email)
	await keepHouse(pool)
	t.is((await pool.query('select from attachments')).rowCount, 0)
})

test('expired rows are deleted, others stay', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`insert into idempotency_keys (project_id, key, request, claim_id, expires_at)
		select $1, 'key ' || i, 'POST /v1/send', uuidv7(), now() + (i - 4000) * interval '1 hour'
		from generate_series(1, 4100) i`,
		[project.id],
	)
	await pool.query(
		`insert into throttles (key, tries, expires_at)
		values ('a', '{}', now() - interval '1 s'), ('b', '{}', now() + interval '1 minute')`,
	)
	await pool.query(
		`insert into outbox (project_id, kind, workflow_type, workflow_id, done_at)
		values ($1, 'start', 'campaign', 'campaign/1', now() - interval '2 hours'),
			($1, 'start', 'campaign', 'campaign/2', now()), ($1, 'start', 'campaign', 'campaign/3', null),
			($1, 'start', 'send', 'send/1', now() - interval '2 hours')`,
		[project.id],
	)
	t.is(await keepHouse(pool), 'idempotency keys: 4000, throttles: 1, rows of the outbox: 1')
	t.is((await pool.query('select from idempotency_keys')).rowCount, 100)
	t.is((await pool.query('select from throttles')).rowCount, 1)
	const { rows } = await pool.query('select workflow_id from outbox order by 1')
	t.deepEqual(
		rows.map((row) => row.workflow_id),
		['campaign/2', 'campaign/3', 'send/1'],
	)
})

test('the audit log is kept for 400 days', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`insert into audit_entries (project_id, actor, action, status, ip, request_id, created_at)
		select $1, 'sk_…1234', 'POST /templates', 201, '192.0.2.1', uuidv7(), now() - days * interval '1 day'
		from unnest(array[1, 399, 401, 800]) as days`,
		[project.id],
	)
	t.is(await keepHouse(pool), 'old notes of changes: 2')
	t.is((await pool.query('select from audit_entries')).rowCount, 2)
	t.is(await keepHouse(pool), 'nothing was due')
})

test('the files of an import are deleted a day after its end', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`with job as (
			insert into jobs (project_id, type, state, finished_at)
			values ($1, 'import', 'failed', now() - interval '2 days'), ($1, 'import', 'active', null) returning id
		), file as (
			insert into import_files (project_id, job_id, content) select $1, id, 'a' from job
		), chunk as (
			insert into import_chunks (project_id, job_id, position, rows, emails, subscribed, data, repeats)
			select $1, id, 1, '{}', '{}', '{}', '{}', 0 from job
		)
		insert into import_changes (project_id, job_id, position, changed_at, contact_ids, marks, befores)
		select $1, id, 1, case when row_number() over () = 1 then now() - interval '9 days' else now() end, '{}', '{}', '{}'
		from job`,
		[project.id],
	)
	t.is(
		await keepHouse(pool),
		'files of ended imports: 1, staged rows of ended imports: 1, notes of imports that can no longer be undone: 1',
	)
})

test('an enrolment is known for a day after its end, and a failed one for 30 days', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`with automation as (
			insert into automations (project_id, name, trigger_type) values ($1, 'Hi', 'MANUAL') returning id
		)
		insert into enrolments (project_id, automation_id, scheduled_for, workflow_id, audience, ended_at, error)
		select $1, automation.id, now() - interval '40 days' + n * interval '1 hour', '', '{}', now() - age::interval, error
		from automation, (values
			(1, '25 hours', null), (2, '23 hours', null), (3, null, null),
			(4, '31 days', 'It took too long'), (5, '29 days', 'It took too long')
		) as enrolment (n, age, error)`,
		[project.id],
	)
	t.is(await keepHouse(pool), 'ended enrolments: 2')
	const { rows } = await pool.query(
		`select extract(hour from now() - ended_at)::int + 24 * extract(day from now() - ended_at)::int as hours, error
		from enrolments order by scheduled_for`,
	)
	t.like(rows, [{ hours: 23 }, { hours: null }, { hours: 29 * 24, error: 'It took too long' }])
})

test('the contacts that a job did not come to go when it has ended a day ago', async (t) => {
	const { pool, project } = await setup(t)
	await pool.query(
		`with job as (
			insert into jobs (project_id, type, state, finished_at)
			values ($1, 'bulk-delete', 'cancelled', now() - interval '2 days'),
				($1, 'bulk-delete', 'failed', now() - interval '2 days'),
				($1, 'bulk-delete', 'cancelled', now()), ($1, 'bulk-delete', 'active', null) returning id
		)
		insert into job_contacts (project_id, job_id, position, contact_ids) select $1, id, 0, '{}' from job`,
		[project.id],
	)
	t.is(await keepHouse(pool), 'contacts that ended jobs did not come to: 2')
	t.is((await pool.query('select from job_contacts')).rowCount, 2)
})

test('the errors of a job are kept for 90 days, row by row', async (t) => {
	const { app, orm, pool, project, withSecretKey: headers } = await setup(t)
	const other = await createProject(orm)
	const job = async (projectId: string, age: string, errors: number) => {
		const { rows } = await pool.query(
			`with job as (
				insert into jobs (project_id, id, type, state, total, failed_count, finished_at)
				values ($1, uuidv7(- $2::interval), 'import', 'completed', $3, $3, now() - $2::interval) returning id
			), errors as (
				insert into job_errors (project_id, job_id, row, email, error)
				select $1, id, n, 'x', 'This is not an email address' from job, generate_series(2, $3::int + 1) n
			)
			select id from job`,
			[projectId, age, errors],
		)
		return `/contacts/import/${rows[0].id}`
	}
	const young = await job(project.id, '89 days', 3)
	const old = await job(project.id, '91 days', 4500)
	await job(other.project.id, '400 days', 1)
	t.is(await keepHouse(pool), 'errors of old jobs: 4501')
	t.is(await keepHouse(pool), 'nothing was due')
	const read = async (url: string) => app.inject({ url, headers })
	t.is((await read(`${young}/errors`)).body.split('\n').length, 1 + 3 + 1)
	t.is((await read(`${old}/errors`)).body, 'row,email,error\n')
	t.like((await read(old)).json(), {
		state: 'completed',
		result: { failureCount: 4500, errors: [] },
	})
})

test('a field that lost most of its kept values is counted again in advance', async (t) => {
	const { app, pool, project, withSecretKey } = await setup(t)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data)
		select $1, 'p' || i || '@example.com', true, jsonb_build_object('n', 'v' || lpad(i::text, 5, '0'))
		from generate_series(1, 3000) i`,
		[project.id],
	)
	await pool.query('select fold_contact_fields($1)', [project.id])
	t.is(await keepHouse(pool), 'nothing was due')
	await pool.query(`delete from contacts where data->>'n' <= 'v00300'`)
	await pool.query('select fold_contact_fields($1)', [project.id])
	t.is(await keepHouse(pool), 'fields counted again: 1')
	t.is(await keepHouse(pool), 'nothing was due')
	await pool.query('drop function recount_contact_field')
	const answer = await app.inject({
		url: '/contacts/fields/n/values?limit=200',
		headers: withSecretKey,
	})
	t.is(answer.json().values[0], 'v00301')
	t.is(answer.json().count, 200)
})

test('uncounted mails of campaigns are counted within minutes, once', async (t) => {
	const { pool, project } = await setup(t)
	const { rows } = await pool.query(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type)
		select $1, 'Spring', 'Hello', 'Hello', 'a@example.com', 'ALL' from generate_series(1, 120) returning id`,
		[project.id],
	)
	const [{ id }] = rows
	await pool.query(
		`insert into campaign_counts (project_id, campaign_id, pending, sent) values ($1, $2, 1000, 7)`,
		[project.id, id],
	)
	await pool.query(
		`insert into campaign_tallies (project_id, campaign_id, id, pending, sent)
		select project_id, id, uuidv7('-2 minutes'), -n, n from campaigns, generate_series(1, 20) n
		union all select project_id, id, uuidv7(), -1, 1 from campaigns`,
	)
	const folder = await pool.connect()
	t.teardown(() => folder.release())
	await folder.query(
		`select pg_advisory_lock(hashtextextended('campaign tallies of ' || $1::uuid, 0))`,
		[id],
	)
	t.is(await keepHouse(pool), 'tallies of campaigns: 2380')
	await folder.query('select pg_advisory_unlock_all()')
	t.is(await keepHouse(pool), 'tallies of campaigns: 20')
	t.is(await keepHouse(pool), 'nothing was due')
	const counts = await pool.query(
		`select pending, sent, count(*)::int as campaigns from campaign_counts group by 1, 2 order by 1`,
	)
	t.deepEqual(counts.rows, [
		{ pending: -210, sent: 210, campaigns: 119 },
		{ pending: 790, sent: 217, campaigns: 1 },
	])
	t.is((await pool.query('select from campaign_tallies')).rowCount, 120)
})

test('a chore that fails is named, and keeps no other from its turn', async (t) => {
	const { pool } = await setup(t)
	await pool.query(
		`insert into throttles (key, tries, expires_at) values ('a', '{}', now() - interval '1 s')`,
	)
	await pool.query('alter table sessions rename to gone')
	t.is(await keepHouse(pool), 'sessions: failed, throttles: 1')
})

test('every table that has an expiry is kept clean', async (t) => {
	const { pool } = await setup(t)
	const { rows } = await pool.query(
		`select table_name from information_schema.columns
		where column_name = 'expires_at' and table_schema = 'public' order by 1`,
	)
	const cleaned = chores.map(({ what }) =>
		what.replace('tokens of accounts', 'account_tokens').replaceAll(' ', '_'),
	)
	for (const { table_name } of rows) t.true(cleaned.includes(table_name), table_name)
})
