import test from 'ava'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { readSettings as readWorkerSettings } from '../activities/settings.ts'
import { tracer } from '../outside/telemetry/tracer.ts'
import { startTracing } from '../outside/telemetry/tracing.ts'
import { readSettings } from '../api/settings.ts'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { claimSends } from '../db/outbox/claims.ts'
import { poolOf } from '../db/statement.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { otlpCollector } from './helpers/otlp-collector.ts'

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

test('one trace leads from the request through the outbox and Temporal to the provider', async (t) => {
	const collector = await otlpCollector(t)
	const stack = await prepareStack(
		{
			databaseUrl: process.env['DATABASE_URL']!,
			temporalAddress: process.env['TEMPORAL_ADDRESS']!,
		},
		{ EMAIL_PROVIDER: 'local', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
	)
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const send = async (to: string, traceparent: string) => {
		const mail = { to, from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }
		const answer = await http.post('/v1/send', mail, { traceparent })
		t.is(answer.status, 200, answer.body)
		return JSON.parse(answer.body).data.emails[0].email as string
	}
	const [traceId, callerSpan, unfollowed] = [hex(16), hex(8), hex(16)]
	// Waiting sends of a project become one run, whose trace is that of the first that has one.
	const quietId = await send('quiet@example.org', `00-${unfollowed}-${hex(8)}-00`)
	const isQuietSent = async () =>
		JSON.parse((await http.get(`/emails/${quietId}`)).body).status === 'SENT'
	t.true(await until(isQuietSent, 60_000))
	const emailId = await send('ann@example.org', `00-${traceId}-${callerSpan}-01`)

	const names = [
		'POST /v1/send',
		'start send',
		'workflow send',
		'activity deliverClaimAtOnce',
		'deliver local',
	]
	const ours = () => collector.spans.filter((span) => span.traceId === traceId)
	t.true(await until(async () => ours().length >= names.length, 60_000))
	const found = ours()
	t.deepEqual(found.map(({ name }) => name).sort(), names.toSorted())
	const byName = new Map(found.map((span) => [span.name, span]))
	const chain = names.map((name) => byName.get(name)!)
	// Each span is a child of the one before it, and the first is a child of the caller's.
	t.deepEqual(
		chain.map(({ parentSpanId }) => parentSpanId),
		[callerSpan, ...chain.slice(0, -1).map(({ spanId }) => spanId)],
	)
	t.is(chain[0]!.attributes['http.response.status_code'], '200')
	t.is(chain[0]!.service, 'tempost-api')
	t.is(chain[4]!.service, 'tempost-worker')
	t.is(chain[4]!.attributes['tempost.email.id'], emailId)
	t.true(found.every(({ startMs, endMs, isFault }) => startMs <= endMs && !isFault))
	t.deepEqual(
		collector.spans.filter((span) => span.traceId === unfollowed),
		[],
	)
	t.notRegex(JSON.stringify(collector.spans), /example\.org/)
})

test('a claim of several requests belongs to the first that is followed, and links to the others', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	const traces = [1, 2].map(() => `00-${hex(16)}-${hex(8)}-01`)
	const db = await pool.connect()
	t.teardown(() => db.release())
	for (const trace of ['', ...traces]) {
		await db.query(`select set_config('tempost.trace', $1, false)`, [trace])
		await db.query(
			`insert into queued_sends (project_id, request_id, email_ids) values ($1, $2, '{}')`,
			[project.id, randomUUID()],
		)
	}
	const [row] = await claimSends(db, {
		requestsPerRun: 500,
		mailsPerRun: 2000,
		newRunsPerProject: 2,
		lockSeconds: 1.5,
		taskQueue: taskQueues.core,
		runsPerProject: 8,
	})
	t.is(row!.trace, traces[0]!)
	t.deepEqual(row!.trace_links, [traces[1]!])
})

test('without tracing, rows store no trace', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	await pool.query(
		`insert into queued_sends (project_id, request_id, email_ids) values ($1, uuidv7(), '{}')`,
		[project.id],
	)
	const [row] = await claimSends(pool, {
		requestsPerRun: 500,
		mailsPerRun: 2000,
		newRunsPerProject: 2,
		lockSeconds: 1.5,
		taskQueue: taskQueues.core,
		runsPerProject: 8,
	})
	t.is(row!.trace, null)
	t.falsy(row!.trace_links?.length)
})

test('a hanging collector does not delay the end of a process', async (t) => {
	const server = createServer(() => {}).listen(0, '127.0.0.1')
	await once(server, 'listening')
	t.teardown(() => {
		server.closeAllConnections()
		server.close()
	})
	const { port } = server.address() as AddressInfo
	const options = { endpoint: `http://127.0.0.1:${port}`, service: 'test', ratio: 1 }
	const tracing = await startTracing(options, new pg.Pool())
	tracer.begin('span', {}).end({}, false)
	const asked = once(server, 'request')
	const startedAt = Date.now()
	await Promise.all([tracing.stop(), asked])
	// The exporter itself would try for ten seconds, repeatedly.
	t.true(Date.now() - startedAt < 9000)
})

test('no traces are sent unless an endpoint is set', (t) => {
	const secret = { SESSION_SECRET: 'a secret of the tests' }
	t.is(readSettings(secret).tracing, undefined)
	t.is(readWorkerSettings(secret).tracing, undefined)
	const set = { ...secret, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }
	t.like(readSettings(set).tracing, { service: 'tempost-api', ratio: 1 })
	t.like(readWorkerSettings({ ...set, OTEL_TRACES_SAMPLER_ARG: '0.1' }).tracing, { ratio: 0.1 })
	t.throws(() => readSettings({ ...secret, OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost' }), {
		message: /OTEL_EXPORTER_OTLP_ENDPOINT/,
	})
})
