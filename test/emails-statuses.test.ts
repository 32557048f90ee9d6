import test from 'ava'
import { emailStatuses } from '../db/emails/email.ts'
import { open, recordAllEnds, recordEnds } from '../db/emails/ledger.ts'
import { setupMails } from './helpers/mails.ts'

test('the list has the mails of any status, in their order, and counts them', async (t) => {
	const { list, pool, project } = await setupMails(t)
	const { rows } = await pool.query<{ id: string; status: string }>(
		`insert into emails (project_id, "to", "from", subject, source_type, status)
		select $1, 'a@example.org', 'app@example.com', n::text, 'TRANSACTIONAL', status
		from generate_series(1, 3) n, unnest($2::text[]) status returning id, status`,
		[project.id, emailStatuses],
	)
	await pool.query(
		`insert into scheduled_sends (project_id, email_id, due_at)
		select project_id, id, now() from emails where status = 'SCHEDULED'`,
	)
	for (const status of emailStatuses) {
		const ids = rows.filter((row) => row.status === status).map(({ id }) => id)
		const page = await list(`?status=${status}&limit=2`)
		t.is(page.total, 3, status)
		const rest = await list(`?status=${status}&limit=2&cursor=${page.cursor}`)
		const found = [...page.data, ...rest.data].map(({ id }) => id)
		t.deepEqual(found, ids.toSorted().toReversed(), status)
	}
	t.is((await list('?limit=100')).data.length, rows.length)
	t.false(Object.keys((await list('?limit=1')).data[0]!).includes('rareStatus'))
})

test('mails of rare statuses have an index that an ordinary mail never touches', async (t) => {
	const { ids, pool, project } = await setupMails(t, 2)
	const db = await pool.connect()
	try {
		await db.query('begin')
		const updates = async () => {
			const { rows } = await db.query<{ all: number; indexed: number }>(
				`select sum(pg_stat_get_xact_tuples_updated(inhrelid))::int as all,
					sum(pg_stat_get_xact_tuples_updated(inhrelid)
						- pg_stat_get_xact_tuples_hot_updated(inhrelid))::int as indexed
				from pg_inherits where inhparent = 'emails'::regclass`,
			)
			return rows[0]!
		}
		const before = await updates()
		await open(db, { projectId: project.id, emailIds: ids, withoutBody: [], provider: 'smtp' })
		const end = { attempt: 1, error: null, dueInMs: null, providerMessageId: 'x' }
		const sent = { ...end, outcome: 'SENT', status: 'SENT' } as const
		const failed = { ...end, outcome: 'REJECTED', status: 'FAILED' } as const
		await recordEnds(db, project.id, [{ end: { ...sent, id: ids[0]! } }])
		const ordinary = await updates()
		t.deepEqual(ordinary, { all: before.all + 3, indexed: before.indexed })
		await recordEnds(db, project.id, [{ end: { ...failed, id: ids[1]! } }])
		t.deepEqual(await updates(), { all: ordinary.all + 1, indexed: ordinary.indexed + 1 })
	} finally {
		await db.query('rollback')
		db.release()
	}
})

test('the outcomes of a batch are recorded together or not at all', async (t) => {
	const { ids, pool, project } = await setupMails(t, 2)
	await open(pool, { projectId: project.id, emailIds: ids, withoutBody: [], provider: 'resend' })
	await pool.query(`create function break_off() returns trigger language plpgsql as $$ begin
			raise exception 'the worker is gone';
		end $$;
		create trigger break_off before update on emails for each row when (new.status = 'SENT')
			execute function break_off()`)
	const end = { attempt: 1, error: null, dueInMs: null, providerMessageId: 'x' }
	const sent = { ...end, outcome: 'SENT', status: 'SENT' } as const
	const failed = { ...end, outcome: 'REJECTED', status: 'FAILED' } as const
	const record = () =>
		recordAllEnds(pool, project.id, [
			{ end: { ...sent, id: ids[0]! } },
			{ end: { ...failed, id: ids[1]! } },
		])
	const statuses = async () =>
		(
			await pool.query<{ status: string }>(
				'select status from unnest($1::uuid[]) with ordinality as m(id, n) join emails using (id) order by n',
				[ids],
			)
		).rows.map(({ status }) => status)
	await t.throwsAsync(record, { message: /the worker is gone/ })
	t.deepEqual(await statuses(), ['SENDING', 'SENDING'])
	await pool.query('drop trigger break_off on emails')
	await record()
	t.deepEqual(await statuses(), ['SENT', 'FAILED'])
})
