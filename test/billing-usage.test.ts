import test, { type ExecutionContext } from 'ava'
import { doubt } from '../db/emails/doubt.ts'
import { open, recordEnds } from '../db/emails/ledger.ts'
import { setupSend } from './helpers/send.ts'

/** This month's counts by category, as stored and as computed from the ledger. */
async function setupUsage(t: ExecutionContext) {
	const all = await setupSend(t)
	const { pool, project } = all
	const read = async (sql: string) => (await pool.query(sql, [project.id])).rows
	const free = `('FAILED', 'SUPPRESSED', 'CANCELLED')`
	const category = `case source_type when 'WORKFLOW' then 'workflows' when 'TRANSACTIONAL' then 'transactional'
		when 'INBOUND' then 'inbound' else 'campaigns' end`
	return {
		...all,
		kept: () =>
			read(`select month::text, category, sum(used)::int as used, sum(sent)::int as sent from (
					select month, category, used, sent from usage_counts where project_id = $1
					union all select month, category, used, sent from usage_tallies where project_id = $1) u
				group by 1, 2 having sum(used) <> 0 or sum(sent) <> 0 order by 1, 2`),
		counted: () =>
			read(`select to_char(at at time zone 'UTC', 'YYYY-MM-01') as month, category,
					sum(used)::int as used, sum(sent)::int as sent
				from (select ${category} as category, created_at, coalesce(sent_at, bounced_at) as left_at,
						1 + (attachments is not null)::int as weight
					from emails where project_id = $1 and status not in ${free}) e
				cross join lateral (values
					(created_at, case when category <> 'campaigns' then weight else 0 end,
						case when category = 'inbound' then weight else 0 end),
					(left_at, case when category = 'campaigns' then weight else 0 end,
						case when category <> 'inbound' then weight else 0 end)) as c(at, used, sent)
				where at is not null
				group by 1, 2 having sum(used) <> 0 or sum(sent) <> 0 order by 1, 2`),
		rows: async () =>
			(
				await read(`select (select count(*)::int from usage_tallies where project_id = $1) as tallies,
					(select count(*)::int from usage_counts where project_id = $1) as counts`)
			)[0] as { tallies: number; counts: number },
		fold: () => pool.query('select fold_usage($1)', [project.id]),
		mail: (columns: Record<string, unknown> = {}) => {
			const all = { to: 'a@example.org', from: 'b@example.com', subject: '', ...columns }
			const row = { project_id: project.id, source_type: 'TRANSACTIONAL', ...all }
			const names = Object.keys(row)
			return pool.query(
				`insert into emails (${names.map((name) => `"${name}"`).join()})
				values (${names.map((_, index) => `$${index + 1}`).join()})`,
				Object.values(row),
			)
		},
	}
}

const files = JSON.stringify([{ filename: 'a.txt', contentType: 'text/plain', size: 1 }])

test('usage counts equal the ledger, whatever happens to mails in any order', async (t) => {
	const { pool, kept, counted, fold, mail } = await setupUsage(t)
	const sources = ['TRANSACTIONAL', 'WORKFLOW', null, 'CAMPAIGN', 'INBOUND']
	for (const source_type of sources)
		for (const attachments of [null, files])
			for (const created_at of ['2026-01-31T23:59:59Z', '2026-02-01T00:00:00Z'])
				await mail({ source_type, attachments, created_at })
	const pick = (share: number) => `id in (select id from emails where random() < ${share})`
	const steps = [
		`update emails set status = 'SENDING' where ${pick(0.7)}`,
		`update emails set status = 'SENT', sent_at = '2026-02-01T00:00:01Z' where ${pick(0.4)}`,
		`update emails set status = 'FAILED' where ${pick(0.2)}`,
		`update emails set status = 'BOUNCED', bounced_at = '2026-03-01Z' where ${pick(0.2)}`,
		`update emails set status = 'CANCELLED' where status = 'PENDING' and ${pick(0.3)}`,
		`update emails set status = 'PENDING', sent_at = null where ${pick(0.2)}`,
		`update emails set status = 'OPENED', opened_at = now() where sent_at is not null and ${pick(0.5)}`,
		`update emails set status = 'SUPPRESSED' where ${pick(0.1)}`,
	]
	for (let round = 0; round < 12; round++) {
		const at = Math.floor(Math.random() * steps.length)
		await pool.query(steps[(round + at) % steps.length]!)
		if (round % 4 === 0) await fold()
		t.deepEqual(await kept(), await counted(), `${round}`)
	}
	await pool.query(`update emails set status = 'FAILED'`)
	t.deepEqual(await kept(), [])
})

test('a mail counts when accepted, a campaign’s mail when sent, and a mail with files twice', async (t) => {
	const { pool, kept, mail } = await setupUsage(t)
	const month = '2026-02-01'
	const created_at = '2026-02-10T12:00:00Z'
	await mail({ created_at, attachments: files })
	await mail({ created_at, source_type: null })
	await mail({ created_at, source_type: 'INBOUND', status: 'RECEIVED' })
	await mail({ created_at, source_type: 'WORKFLOW', status: 'FAILED' })
	const inbound = { month, category: 'inbound', used: 1, sent: 1 }
	t.deepEqual(await kept(), [inbound, { month, category: 'transactional', used: 2, sent: 0 }])
	await pool.query(`update emails set status = 'SENT', sent_at = $1 where status = 'PENDING'`, [
		'2026-03-01T00:00:00Z',
	])
	t.deepEqual(await kept(), [
		inbound,
		{ month, category: 'transactional', used: 2, sent: 0 },
		{ month: '2026-03-01', category: 'campaigns', used: 1, sent: 1 },
		{ month: '2026-03-01', category: 'transactional', used: 0, sent: 2 },
	])
})

test('statements that change no usage leave no tallies, and many tallies are folded on the way', async (t) => {
	const { orm, pool, project, mail, rows, kept, counted } = await setupUsage(t)
	/** Prevents folding, which these statements do now and then. */
	const unfolded = (work: () => Promise<unknown>) =>
		orm.em.fork().transactional(async (em) => {
			await em.execute(`select pg_advisory_xact_lock(hashtextextended('usage of ' || ?, 0))`, [
				project.id,
			])
			await work()
		})
	await unfolded(async () => {
		await mail({ source_type: 'CAMPAIGN' })
		await pool.query(`update emails set status = 'SENDING'`)
		t.deepEqual(await rows(), { tallies: 0, counts: 0 })
		await pool.query(`update emails set status = 'SENT', sent_at = now()`)
		await pool.query(`update emails set status = 'OPENED', opened_at = now()`)
		t.deepEqual(await rows(), { tallies: 1, counts: 0 })
	})
	await pool.query(
		`do $$ begin for i in 0..1999 loop
			update emails set status = case when i % 2 = 0 then 'FAILED' else 'SENT' end
			where project_id = '${project.id}';
		end loop; end $$`,
	)
	await unfolded(() => pool.query(`update emails set status = 'FAILED'`))
	const { tallies } = await rows()
	t.true(tallies > 0 && tallies < 2000, `${tallies}`)
	t.deepEqual(await kept(), await counted())
})

test('no statement waits for folding, and our own mails count as nobody’s usage', async (t) => {
	const { orm, pool, project, fold, mail, rows } = await setupUsage(t)
	await mail()
	await orm.em.fork().transactional(async (em) => {
		await em.execute('select fold_usage(?)', [project.id])
		await mail()
		await fold()
	})
	t.deepEqual(await rows(), { tallies: 1, counts: 1 })
	await pool.query(`update emails set project_id = '00000000-0000-7000-8000-000000000000'`)
	await mail({ project_id: '00000000-0000-7000-8000-000000000000' })
	const { rowCount } = await pool.query('select from usage_tallies where project_id <> $1', [
		project.id,
	])
	t.is(rowCount, 0)
})

test('a mail counts once, even after crashes of workers and late outcomes', async (t) => {
	const { pool, project, sent, kept } = await setupUsage(t)
	const { id } = await sent()
	const used = (count: number) => [{ ...month(), category: 'transactional', used: 1, sent: count }]
	const end = (attempt: number) =>
		recordEnds(pool, project.id, [
			{
				end: {
					id,
					attempt,
					outcome: 'SENT',
					status: 'SENT',
					providerMessageId: 'q1',
					error: null,
					dueInMs: null,
				},
			},
		])
	t.deepEqual(await kept(), used(0))
	await open(pool, { projectId: project.id, emailIds: [id], withoutBody: [], provider: 'resend' })
	// The worker died between the hand-over and the record, and so does the next one.
	await doubt(pool, {
		projectId: project.id,
		mails: [{ id, attempt: 1 }],
		provider: 'resend',
		isIdempotent: true,
	})
	await open(pool, { projectId: project.id, emailIds: [id], withoutBody: [], provider: 'resend' })
	await doubt(pool, {
		projectId: project.id,
		mails: [{ id, attempt: 2 }],
		provider: 'resend',
		isIdempotent: false,
	})
	t.deepEqual(await kept(), used(0))
	await Promise.all([end(2), end(2), end(1)])
	t.deepEqual(await kept(), used(1))
	await end(2)
	t.deepEqual(await kept(), used(1))
})

const month = () => ({ month: `${new Date().toISOString().slice(0, 7)}-01` })
