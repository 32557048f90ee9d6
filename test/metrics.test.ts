import test from 'ava'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import { readSettings as readWorkerSettings } from '../activities/settings.ts'
import { listen } from '../outside/telemetry/listener.ts'
import { showMetrics } from '../outside/telemetry/metrics.ts'
import { readSettings } from '../api/settings.ts'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { readBacklog } from '../db/outbox/backlog.ts'
import { Suppression } from '../db/reputation/suppression.ts'
import { poolOf } from '../db/statement.ts'
import { anyPort } from '../local/ports.ts'
import { createProject } from './helpers/app.ts'
import { setupDatabase } from './helpers/database.ts'
import { parsePrometheus, sumOf } from './helpers/prometheus.ts'

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}
const log = { info() {}, warn() {} }

test('the metrics of both processes equal the mails sent', async (t) => {
	const [apiPort, workerPort] = [await anyPort(), await anyPort()]
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'local',
		METRICS_PORT: String(apiPort),
		WORKER_METRICS_PORT: String(workerPort),
	})
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const em = stack.orm.em.fork()
	const { projectId } = stack
	em.create(Suppression, { projectId, email: 'no@example.org', reason: 'BOUNCE' })
	await em.flush()
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const mail = { from: 'hello@example.com', subject: 'Hello', body: '<p>Hello</p>' }
	for (const to of [
		['a@example.org', 'b@example.org'],
		['c@example.org', 'no@example.org'],
	])
		t.is((await http.post('/v1/send', { ...mail, to })).status, 200)
	t.is((await http.post('/v1/send', { ...mail, to: 'nobody' })).status, 422)

	const settled = async () => {
		const samples = await scrape(workerPort)
		return sumOf(samples, /^tempost_mails_settled_total\{/) === 4
	}
	t.true(await until(settled, 60_000))
	const [api, worker] = [await scrape(apiPort), await scrape(workerPort)]
	t.is(api.get('tempost_mails_accepted_total{route="/v1/send"}'), 4)
	const sends = 'tempost_http_request_duration_seconds_count{method="POST",route="/v1/send"'
	t.is(api.get(`${sends},status="2xx"}`), 2)
	t.is(api.get(`${sends},status="4xx"}`), 1)
	t.is(worker.get('tempost_mails_settled_total{status="SENT"}'), 3)
	t.is(worker.get('tempost_mails_settled_total{status="SUPPRESSED"}'), 1)
	t.is(worker.get('tempost_mails_handed_over_total{provider="local",outcome="SENT"}'), 3)
	t.is(worker.get('tempost_provider_call_duration_seconds_count{provider="local"}'), 3)
	t.is(worker.get('tempost_provider_pause_seconds'), 0)
	const runs =
		/^temporal_local_activity_execution_latency_seconds_count\{activity_type="deliverClaimAtOnce"/
	t.true(sumOf(worker, runs) >= 1)
	for (const samples of [api, worker]) {
		t.is(samples.get('tempost_database_up'), 1)
		t.is(samples.get('tempost_workers'), 1)
		t.true(samples.get('tempost_database_connections{state="idle"}')! > 0)
		t.true(samples.has('nodejs_eventloop_lag_p99_seconds'))
		t.true(samples.get('process_resident_memory_bytes')! > 1e6)
	}
	// Labels contain neither people nor the content of requests.
	const labels = [...api.keys(), ...worker.keys()].join('\n')
	t.notRegex(labels, /example\.|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}.*projects?_?id/i)
	t.false(labels.includes(projectId))

	t.is((await fetch(`${stack.apiUrl}/metrics`)).status, 404)
	t.is((await fetch(`http://127.0.0.1:${apiPort}/health`)).status, 404)
	t.is((await fetch(`http://127.0.0.1:${apiPort}/metrics`, { method: 'POST' })).status, 405)
})

test('the backlog counts all projects, and only mail that could have been sent has an age', async (t) => {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	const nothing = {
		queuedMails: 0,
		campaignMails: 0,
		backlogAgeSeconds: 0,
		uncertainMails: 0,
		outboxRows: 0,
		outboxAgeSeconds: 0,
		workers: 0,
	}
	t.deepEqual(await readBacklog(pool), nothing)
	const mails = await pool.query<{ id: string }>(
		`insert into emails (project_id, "to", "from", subject, source_type, status, attempt, due_at, created_at)
		select $1, 'a@example.org', 'b@example.com', '', 'TRANSACTIONAL', status, 1,
			now() + due * interval '1 second', now() - interval '100 seconds'
		from (values ('PENDING', -40), ('PENDING', 3600), ('SENT', null), ('UNCERTAIN', null)) v(status, due)
		returning id`,
		[project.id],
	)
	const ids = mails.rows.map(({ id }) => id)
	await pool.query(
		`insert into queued_sends (project_id, request_id, email_ids, claim_id)
		values ($1, $3, $2::uuid[], $3)`,
		[project.id, ids, ids[0]],
	)
	await pool.query(
		`insert into attempts (project_id, email_id, attempt, at, outcome)
		select $1, id, 1, now(), 'UNKNOWN' from unnest($2::uuid[]) as m(id)`,
		[project.id, ids],
	)
	await pool.query(
		`insert into outbox (project_id, kind, workflow_id, created_at, done_at) values
			($1, 'terminate', 'a', now() - interval '9 seconds', null), ($1, 'terminate', 'b', now(), null),
			($1, 'terminate', 'c', now() - interval '1 hour', now())`,
		[project.id],
	)
	await pool.query(
		`insert into worker_beats (beat_at) values (now()), (now() - interval '1 minute')`,
	)
	const backlog = await readBacklog(pool)
	t.like(backlog, { queuedMails: 4, uncertainMails: 1, outboxRows: 2, workers: 1 })
	t.true(backlog.backlogAgeSeconds >= 40 && backlog.backlogAgeSeconds < 70)
	t.true(backlog.outboxAgeSeconds >= 9 && backlog.outboxAgeSeconds < 39)
})

test('while the database is away the page says so, and shows no old figures', async (t) => {
	const pool = new pg.Pool({ host: '127.0.0.1', port: await anyPort() })
	const place = { host: '127.0.0.1', port: await anyPort() }
	const metrics = await showMetrics(place, { pool, log })
	t.teardown(metrics.stop)
	t.true(await until(async () => (await scrape(place.port)).size > 0, 5000))
	const samples = await scrape(place.port)
	t.is(samples.get('tempost_database_up'), 0)
	t.is(sumOf(samples, /^tempost_(backlog|outbox|uncertain|workers)/), 0)
	t.false(samples.has('tempost_outbox_rows'))
})

test('a port in use stops no work, and is taken over once it is free', async (t) => {
	const holder = createServer().listen(0, '127.0.0.1')
	await once(holder, 'listening')
	const { port } = holder.address() as AddressInfo
	const warned = Promise.withResolvers<string>()
	const page = listen(
		{ host: '127.0.0.1', port },
		{ info() {}, warn: (_, message) => warned.resolve(message) },
		async () => ({ type: 'text/plain', text: 'figure 1\n' }),
		20,
	)
	t.teardown(page.stop)
	t.regex(await warned.promise, /port for metrics/)
	holder.close()
	t.true(await until(async () => (await get(port)) === 'figure 1\n', 10_000))
})

test('metrics listen only if a port is set; the worker uses the next one', async (t) => {
	const secret = { SESSION_SECRET: 'a secret of the tests' }
	t.is(readSettings(secret).metrics, undefined)
	t.is(readWorkerSettings(secret).metrics, undefined)
	const set = { ...secret, METRICS_PORT: '9464' }
	t.deepEqual(readSettings(set).metrics, { host: '127.0.0.1', port: 9464 })
	t.deepEqual(readWorkerSettings(set).metrics, { host: '127.0.0.1', port: 9465 })
	t.is(readWorkerSettings({ ...set, WORKER_METRICS_PORT: '9500' }).metrics?.port, 9500)
	t.throws(() => readSettings({ ...secret, METRICS_PORT: 'many' }), { message: /METRICS_PORT/ })
})

test('the tests’ metrics parser refuses what a metrics server would', (t) => {
	for (const bad of [
		'a 1',
		'a 1\n',
		'# TYPE a gauge\na{b="c"d="e"} 1\n',
		'# TYPE a gauge\na{b="c\\d"} 1\n',
		'# TYPE a gauge\na one\n',
		'# TYPE a gauge\na 1\na 2\n',
		'# TYPE a gauge\nb 1\n',
		'# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# HELP a Again\n',
		'# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
	])
		t.throws(() => parsePrometheus(bad), undefined, bad)
})

const get = async (port: number) => {
	try {
		return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
	} catch {
		return ''
	}
}

async function scrape(port: number) {
	const text = await get(port)
	return text === '' ? new Map<string, number>() : parsePrometheus(text)
}
