import test, { type ExecutionContext } from 'ava'
import { sendingState } from '../api/projects/sending-state.ts'
import { addMember, createUser } from './helpers/people.ts'
import { setupSend } from './helpers/send.ts'

interface SystemBody {
	health: { status: string }
	sending: { state: string; reasons: { code: string }[] }
	provider: object
	backlog: { oldestWaitingSince: string | null; nextScheduledFor: string | null }
	doubt: { oldestSince: string | null }
	outbox: { oldestSince: string | null }
	webhooks: object
	runs: {
		kind: string
		id: string
		workflowId: string
		startedAt: string
		temporalUrl: string | null
	}[]
}

const temporalUi = { url: 'https://temporal.example', namespace: 'mail and more' }

async function setupSystem(t: ExecutionContext, options: Parameters<typeof setupSend>[1] = {}) {
	const settings = { temporalUi, ...options.settings }
	const context = await setupSend(t, { ...options, settings })
	const { app, orm, pool, project } = context
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const system = async () => {
		const answer = await app.inject({ url: `/projects/${project.id}/system`, headers })
		t.is(answer.statusCode, 200, answer.body)
		return answer.json<SystemBody>()
	}
	const run = (text: string, ...values: unknown[]) => pool.query(text, [project.id, ...values])
	return { ...context, system, run }
}

const counted = (count: number, atLeast = false) => ({ count, atLeast })

test('of a project at rest everything is zero', async (t) => {
	const { system } = await setupSystem(t)
	t.deepEqual(await system(), {
		health: {
			status: 'ok',
			checks: { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' },
			provider: null,
		},
		sending: { state: 'normal', reasons: [] },
		provider: { name: 'local', awaySince: null, answer: null },
		backlog: {
			waiting: counted(0),
			oldestWaitingSince: null,
			sending: counted(0),
			campaignWaiting: 0,
			campaignSending: 0,
			scheduled: counted(0),
			nextScheduledFor: null,
		},
		doubt: { uncertain: counted(0), oldestSince: null },
		outbox: { waiting: counted(0), oldestSince: null },
		webhooks: { waiting: counted(0) },
		runs: [],
	})
})

test('the backlog has the mails of open requests by their states, and the scheduled ones', async (t) => {
	const { system, sent, run } = await setupSystem(t)
	const first = await sent()
	const second = await sent()
	const third = await sent()
	await sent({ delivery: { at: new Date(Date.now() + 3_600_000).toISOString() } })
	await run(`update emails set status = 'SENDING' where project_id = $1 and id = $2`, second.id)
	// A run keeps the mails that are settled until all of its mails are.
	await run(`update emails set status = 'SENT' where project_id = $1 and id = $2`, third.id)
	const { backlog } = await system()
	t.like(backlog, { waiting: counted(1), sending: counted(1), scheduled: counted(1) })
	t.is(backlog.oldestWaitingSince, first.createdAt.toISOString())
	t.true(Date.parse(backlog.nextScheduledFor!) > Date.now() + 3_000_000)
})

test('a campaign that is being sent counts, one that is paused does not', async (t) => {
	const { system, run } = await setupSystem(t)
	await run(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type, status, started_at, total_recipients)
		values ($1, 'C', 'S', 'B', 'a@example.com', 'ALL', 'SENDING', now(), 7)`,
	)
	t.like((await system()).backlog, { campaignWaiting: 7, campaignSending: 0 })
	await run(`update campaigns set paused_at = now() where project_id = $1`)
	t.like((await system()).backlog, { campaignWaiting: 0 })
})

test('mails in doubt are counted, since the hand-over of the oldest', async (t) => {
	const { system, sent, run } = await setupSystem(t)
	const { id } = await sent()
	await run(
		`update emails set status = 'UNCERTAIN', attempt_started_at = '2026-11-01T10:00:00Z'
		where project_id = $1 and id = $2`,
		id,
	)
	const { doubt } = await system()
	t.deepEqual(doubt, { uncertain: counted(1), oldestSince: '2026-11-01T10:00:00.000Z' })
})

test('counts end at ten thousand and say so', async (t) => {
	const { system, run } = await setupSystem(t)
	await run(
		`insert into scheduled_sends (project_id, email_id, due_at)
		select $1, uuidv7(), now() + interval '1 day' from generate_series(1, 10000)`,
	)
	t.like((await system()).backlog, { scheduled: counted(10_000) })
	await run(
		`insert into scheduled_sends (project_id, email_id, due_at) values ($1, uuidv7(), now() + interval '1 day')`,
	)
	t.like((await system()).backlog, { scheduled: counted(10_000, true) })
})

test('calls to Temporal and webhooks that wait are counted', async (t) => {
	const { system, run } = await setupSystem(t)
	await run(
		`insert into outbox (project_id, kind, workflow_id, created_at, done_at) values
			($1, 'start', 'send/1', '2026-11-02T10:00:00Z', null), ($1, 'start', 'send/2', '2026-11-02T11:00:00Z', null),
			($1, 'start', 'send/3', '2026-11-02T09:00:00Z', now())`,
	)
	const { rows } = await run(
		`insert into webhook_endpoints (project_id, url, events, ordering, secret)
		values ($1, 'https://example.org/', '{*}', 'none', '') returning id`,
	)
	await run(
		`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, occurred_at, status, next_at)
		values ($1, $2, uuidv7(), 'email.sent', now(), 'PENDING', now()),
			($1, $2, uuidv7(), 'email.sent', now(), 'DELIVERED', null)`,
		(rows[0] as { id: string }).id,
	)
	const { outbox, webhooks } = await system()
	t.deepEqual(outbox, { waiting: counted(2), oldestSince: '2026-11-02T10:00:00.000Z' })
	t.deepEqual(webhooks, { waiting: counted(1) })
})

test('the newest active runs lead into the Web UI, and no run of another project is shown', async (t) => {
	const { system, run, sent, newProject, pool, send } = await setupSystem(t)
	const { requestId } = await sent()
	await run(`update queued_sends set claim_id = request_id where project_id = $1`)
	const { rows } = await run(
		`insert into jobs (project_id, type, created_at) values ($1, 'bulk-delete', now() - interval '1 hour') returning id`,
	)
	await run(`insert into jobs (project_id, type, state) values ($1, 'import', 'completed')`)
	const other = await newProject('other.example')
	await send({ from: 'a@other.example' }, other.withSecretKey)
	await pool.query('update queued_sends set claim_id = request_id')
	const { runs } = await system()
	const jobId = (rows[0] as { id: string }).id
	t.deepEqual(
		runs.map(({ kind, id, workflowId }) => [kind, id, workflowId]),
		[
			['send', requestId, `send/${requestId}`],
			['bulk', jobId, `bulk/${jobId}`],
		],
	)
	t.is(
		runs[0]!.temporalUrl,
		`https://temporal.example/namespaces/mail%20and%20more/workflows/send%2F${requestId}`,
	)
})

test('without the address of the Web UI there are no links', async (t) => {
	const { system, run } = await setupSystem(t, { settings: { temporalUi: undefined } })
	await run(`insert into jobs (project_id, type) values ($1, 'import')`)
	t.is((await system()).runs[0]!.temporalUrl, null)
})

test('while Temporal is away the answer is complete and says that mail waits', async (t) => {
	const checkTemporal = async () => ({ temporal: false, worker: false })
	const { system } = await setupSystem(t, { services: { checkTemporal } })
	const { health, sending } = await system()
	t.is(health.status, 'degraded')
	t.is(sending.state, 'paused')
	t.deepEqual(
		sending.reasons.map(({ code }) => code),
		['TEMPORAL_AWAY', 'WORKER_AWAY'],
	)
})

test('mails that wait for the send rate slow a project down', async (t) => {
	const { system, sent, run } = await setupSystem(t)
	await sent()
	t.is((await system()).sending.state, 'normal')
	await run(`insert into send_budgets (project_id, next_at) values ($1, now() + interval '1 hour')`)
	t.like((await system()).sending, { state: 'slowed', reasons: [{ code: 'SEND_RATE' }] })
})

test('a provider that is away is named with its answer', async (t) => {
	const { system, pool } = await setupSystem(t)
	await pool.query(
		`insert into provider_states (name, away_since, until, answer)
		values ('smtp', '2026-11-03T10:00:00Z', now() + interval '1 minute', '421 later')`,
	)
	const { provider, sending } = await system()
	t.deepEqual(provider, {
		name: 'smtp',
		awaySince: '2026-11-03T10:00:00.000Z',
		answer: '421 later',
	})
	t.like(sending, { state: 'paused', reasons: [{ code: 'PROVIDER_AWAY' }] })
})

const fine = {
	project: { disabledReason: null, ownerVerified: true },
	health: {
		status: 'ok',
		checks: { database: 'ok', temporal: 'ok', worker: 'ok', provider: 'ok' },
		provider: null,
	},
	isMailReal: true,
	reached: [],
	isRateLimited: false,
} satisfies Parameters<typeof sendingState>[0]

test('a disabled project, an unverified owner and an exhausted quota stop all mail', (t) => {
	const codes = (changes: Partial<Parameters<typeof sendingState>[0]>) => {
		const { state, reasons } = sendingState({ ...fine, ...changes })
		return [state, ...reasons.map(({ code }) => code)]
	}
	t.deepEqual(codes({}), ['normal'])
	for (const disabledReason of ['PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'])
		t.deepEqual(codes({ project: { disabledReason, ownerVerified: true } }), [
			'paused',
			'PROJECT_DISABLED',
		])
	const project = { disabledReason: null, ownerVerified: false }
	t.deepEqual(codes({ project }), ['paused', 'OWNER_UNVERIFIED'])
	t.deepEqual(codes({ project, isMailReal: false }), ['normal'])
	t.deepEqual(codes({ reached: ['total'] }), ['paused', 'LIMIT_REACHED'])
	t.deepEqual(codes({ reached: ['campaigns'] }), ['slowed', 'LIMIT_REACHED'])
})
