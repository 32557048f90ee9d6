import { randomUUID } from 'node:crypto'
import test from 'ava'
import {
	claimOutbox,
	claimSends,
	markDone,
	markFailed,
	type OutboxRow,
	restartClaims,
	unfinishedClaims,
} from '../db/outbox/claims.ts'
import { priorities } from '../db/outbox/outbox.ts'
import { createProject } from './helpers/app.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

test('a request that waits alone becomes a run of its own', async (t) => {
	const { send, claim, project } = await setupLedger(t)
	await send(['ann@example.org'])
	const rows = await claim()
	t.is(rows.length, 1)
	t.like(rows[0], {
		project_id: project.id,
		kind: 'start',
		workflow_type: 'send',
		priority: 1,
		summary: '1 request, 1 mail',
	})
	t.is(rows[0]!.workflow_id, `send/${claimOf(rows[0])}`)
})

test('the run of a single mail is found by its contact, the run of several is not', async (t) => {
	const { send, claim, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const [alone] = await claim()
	const [mail] = await execute('select contact_id::text from emails where id = ?', [id])
	t.truthy(mail!['contact_id'])
	t.deepEqual(alone!.search_attributes, { ContactId: mail!['contact_id'] as string })
	await send(['ann@example.org', 'bob@example.org'])
	t.is((await claim())[0]!.search_attributes, null)
})

test('requests that wait together leave as one run', async (t) => {
	const { send, claim, execute } = await setupLedger(t)
	for (let i = 0; i < 5; i++) await send([`a${i}@example.org`, `b${i}@example.org`])
	const rows = await claim()
	t.is(rows.length, 1)
	t.is(rows[0]!.summary, '5 requests, 10 mails')
	t.deepEqual(await execute('select distinct claim_id::text from queued_sends'), [
		{ claim_id: claimOf(rows[0]) },
	])
})

test('each project gets its own run, however much another has waiting', async (t) => {
	const { send, claim, newProject, project } = await setupLedger(t)
	for (let i = 0; i < 30; i++) await send([`a${i}@example.org`])
	const neighbour = await newProject()
	await send(['ann@example.org'], neighbour.id)
	const rows = await claim()
	t.deepEqual(rows.map((row) => row.project_id).toSorted(), [project.id, neighbour.id].toSorted())
	t.is(rows.find((row) => row.project_id === neighbour.id)!.summary, '1 request, 1 mail')
})

test('a run takes no more than it may, and a request is never torn', async (t) => {
	const { send, pool } = await setupLedger(t)
	const many = Array.from({ length: 8 }, (_, i) => `r${i}@example.org`)
	for (let i = 0; i < 3; i++) await send(many)
	const claim = () =>
		claimSends(pool, {
			requestsPerRun: 500,
			mailsPerRun: 10,
			newRunsPerProject: 5,
			lockSeconds: 60,
			taskQueue: 'core',
			runsPerProject: 8,
		})
	t.like((await claim())[0], { summary: '2 requests, 16 mails', hasMore: true })
	t.like((await claim())[0], { summary: '1 request, 8 mails', hasMore: false })
	t.deepEqual(await claim(), [])
})

test('a busy project starts two runs a second at most, and eight before the first is through', async (t) => {
	const { send, claim, execute } = await setupLedger(t)
	const claimOne = async () => {
		await send(['ann@example.org'])
		return (await claim()).length
	}
	t.is(await claimOne(), 1)
	t.is(await claimOne(), 1)
	t.is(await claimOne(), 0)
	for (let runs = 2; runs < 8; runs++) {
		await execute(`update outbox set done_at = now() - interval '2 seconds'`)
		t.is(await claimOne(), 1)
	}
	await execute(`update outbox set done_at = now() - interval '2 seconds'`)
	t.is(await claimOne(), 0)
})

test('a mail of /v1/send waits for no mail of a workflow or of an ended campaign', async (t) => {
	const { send, claim, project, pool, execute } = await setupLedger(t)
	for (const priority of [priorities.automation, priorities.bulk])
		await execute(
			`insert into queued_sends (project_id, request_id, priority, email_ids)
			select '${project.id}', uuidv7(), ${priority}, array[uuidv7()] from generate_series(1, 1200)`,
		)
	await send(['ann@example.org'])
	const claimed = (rows: OutboxRow[]) =>
		rows
			.toSorted((one, other) => one.priority - other.priority)
			.map(({ priority, summary }) => [priority, summary])
	const rows = await claim()
	t.deepEqual(claimed(rows), [
		[priorities.transactional, '1 request, 1 mail'],
		[priorities.automation, '500 requests, 500 mails'],
		[priorities.bulk, '500 requests, 500 mails'],
	])
	t.is((await claim()).length, 2)
	await send(['bob@example.org'])
	t.deepEqual(claimed(await claim()), [[priorities.transactional, '1 request, 1 mail']])
	const steps = rows.find(({ priority }) => priority === priorities.automation)
	const lost = [{ project_id: project.id, claim_id: claimOf(steps) }]
	await restartClaims(pool, { runs: lost, taskQueue: 'core' })
	t.like((await execute('select priority from outbox order by id desc limit 1'))[0], {
		priority: priorities.automation,
	})
})

test('two relays never claim the same send', async (t) => {
	const { send, claim, execute } = await setupLedger(t)
	for (let i = 0; i < 40; i++) await send([`a${i}@example.org`])
	await Promise.all([claim(), claim(), claim(), claim()])
	const [row] = await execute<{ runs: number; claimed: number }>(
		`select (select count(*)::int from outbox) as runs,
			(select count(*)::int from queued_sends where claim_id is not null) as claimed`,
	)
	t.is(row!.claimed, 40)
	t.true(row!.runs >= 1)
})

test('a claim whose relay died is handed out again unchanged after a moment', async (t) => {
	const { send, claim, pool, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const [{ hasMore, ...first }] = (await claim()) as [OutboxRow & { hasMore: boolean }]
	t.false(hasMore)
	t.deepEqual(await claimOutbox(pool, { limit: 50, lockSeconds: 60 }), [])
	await execute(`update outbox set locked_until = now() - interval '1 second'`)
	const [again] = await claimOutbox(pool, { limit: 50, lockSeconds: 60 })
	t.deepEqual(again, { ...first, attempts: 2 })
	t.deepEqual(await claimOutbox(pool, { limit: 50, lockSeconds: 60 }), [])
})

test('a row that Temporal refused waits and says why; an accepted row is not sent again', async (t) => {
	const { send, claim, pool, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const [row] = await claim()
	await markFailed(pool, { outboxId: row!.id, error: 'UNAVAILABLE', seconds: 60 })
	t.deepEqual(await claimOutbox(pool, { limit: 50, lockSeconds: 60 }), [])
	t.like((await execute('select * from outbox'))[0], { last_error: 'UNAVAILABLE', done_at: null })
	await execute('update outbox set next_at = now()')
	t.is((await claimOutbox(pool, { limit: 50, lockSeconds: 60 })).length, 1)
	await markDone(pool, { outboxIds: [row!.id] })
	await execute('update outbox set locked_until = null')
	t.deepEqual(await claimOutbox(pool, { limit: 50, lockSeconds: 60 }), [])
})

test('smaller priorities are dispatched first', async (t) => {
	const { pool, project, execute } = await setupLedger(t)
	for (const priority of [5, 1, 3])
		await execute(
			`insert into outbox (project_id, kind, priority, workflow_id) values (?, 'terminate', ?, 'x')`,
			[project.id, priority],
		)
	const claimed = []
	for (let i = 0; i < 3; i++)
		claimed.push((await claimOutbox(pool, { limit: 1, lockSeconds: 60 }))[0]!.priority)
	t.deepEqual(claimed, [1, 3, 5])
})

test('a project with many rows waiting delays no other project, whatever the priorities', async (t) => {
	const { orm, pool, project, execute } = await setupLedger(t)
	const { project: other } = await createProject(orm)
	await execute(
		`insert into outbox (project_id, kind, priority, workflow_id)
		select ?, 'terminate', 3, 'many/' || n from generate_series(1, 1000) n`,
		[project.id],
	)
	await execute(
		`insert into outbox (project_id, kind, priority, workflow_id)
		select ?, 'terminate', 5, 'few/' || n from generate_series(1, 3) n`,
		[other.id],
	)
	const claimed = await claimOutbox(pool, { limit: 10, lockSeconds: 60 })
	t.is(claimed.length, 10)
	t.is(claimed.filter((row) => row.project_id === other.id).length, 3)
	const alone = await claimOutbox(pool, { limit: 50, lockSeconds: 60 })
	t.is(alone.length, 50)
})

test('a run that Temporal has lost is found and started again', async (t) => {
	const { send, claim, pool, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const [row] = await claim()
	await markDone(pool, { outboxIds: [row!.id] })
	t.deepEqual(await unfinishedClaims(pool, { limit: 10 }), [])
	await execute(`update queued_sends set created_at = now() - interval '6 minutes'`)
	const lost = await unfinishedClaims(pool, { limit: 10 })
	t.is(lost[0]!.claim_id, claimOf(row))
	t.deepEqual(await unfinishedClaims(pool, { limit: 10 }), [], 'it was just asked about')
	await restartClaims(pool, { runs: lost, taskQueue: 'core' })
	const [again] = await claimOutbox(pool, { limit: 10, lockSeconds: 60 })
	t.like(again, { workflow_id: row!.workflow_id, payload: row!.payload })
})

test('a finished claim leaves nothing behind, and its run may be repeated harmlessly', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const { provider, handed } = scriptedProvider()
	const { pass, finish } = await worker(provider)
	await pass(claimId)
	t.true(await finish(claimId))
	t.deepEqual(await execute('select 1 from outbox union all select 1 from queued_sends'), [])
	t.like(await pass(claimId), { left: 0 })
	t.is(handed.length, 1)
})

test('a claim that ends while its run is believed lost leaves nothing that counts as a run', async (t) => {
	const { send, claim, worker, pool, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const [row] = await claim()
	const { project_id } = row!
	const claimId = claimOf(row)
	const { deliverClaim } = await worker(scriptedProvider().provider)
	t.like(await deliverClaim(claimId), { settled: 1, left: 0 })
	const lost = [{ project_id, claim_id: claimId }]
	await restartClaims(pool, { runs: lost, taskQueue: 'core' })
	t.deepEqual(await execute('select 1 from outbox'), [])
})

for (const pass of ['deliverClaim', 'deliverClaimAtOnce'] as const)
	test(`a run of a claim that is no more frees its place by ${pass}`, async (t) => {
		const { project, worker, execute } = await setupLedger(t)
		const claimId = randomUUID()
		await execute(
			`insert into outbox (project_id, kind, priority, workflow_type, workflow_id, done_at)
		values (?, 'start', 1, 'send', ?, now())`,
			[project.id, `send/${claimId}`],
		)
		const activities = await worker(scriptedProvider().provider)
		t.like(await activities[pass](claimId), { left: 0 })
		t.deepEqual(await execute('select 1 from outbox'), [])
	})
