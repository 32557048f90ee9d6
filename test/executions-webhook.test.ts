import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, QueryConfig } from 'pg'
import { callWebhook } from '../activities/automations/webhook-step.ts'
import { webhookSecret } from '../db/projects/webhook-secret.ts'
import { mailStep, setupExecutions, webhookStep } from './helpers/executions.ts'

interface Heard {
	url: string
	method: string
	headers: IncomingMessage['headers']
	body: string
}

type Answer = (response: ServerResponse, heard: Heard) => void

async function server(t: ExecutionContext, answer: Answer) {
	const heard: Heard[] = []
	const http = createServer((request, response) => {
		let body = ''
		request.on('data', (chunk: Buffer) => (body += chunk.toString()))
		request.on('end', () => {
			const one = { url: request.url!, method: request.method!, headers: request.headers, body }
			heard.push(one)
			answer(response, one)
		})
	})
	await once(http.listen(0, '127.0.0.1'), 'listening')
	t.teardown(() => http.close())
	return { heard, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` }
}

const answering =
	(status: number, body = '', headers: Record<string, string> = {}): Answer =>
	(response) =>
		response.writeHead(status, headers).end(body)

/** An execution whose current step is its call. */
async function atCall(t: ExecutionContext, url: string, config: object = {}) {
	const context = await setupExecutions(t)
	await context.contact('ann@example.org', { name: 'Ann "A"', plan: 'pro' })
	await context.freeze({ on: 'bought', steps: [webhookStep(url, config), mailStep] })
	await context.track('bought', { product: 'Tea\nand cups' })
	const id = await context.executionId()
	const stop = await context.advance(id)
	t.is(stop.do, 'CALL')
	const services = {
		...context.services,
		settings: {
			...context.services.settings,
			webhooks: { allowPrivate: true, dnsServers: [] },
		},
	}
	const key = { projectId: context.project.id, executionId: id }
	const visit = async () =>
		(
			await context.select<{ status: string; output: unknown; error: string | null }>(
				`select status, output, error from execution_steps where type = 'WEBHOOK' order by visit desc`,
			)
		)[0]!
	return {
		...context,
		id,
		visit,
		perform: (at = 2, pool = context.pool) =>
			new MockActivityEnvironment().run(callWebhook, { ...services, pool }, key, at),
	}
}

test('a call is rendered, signed by Standard Webhooks, and its answer can be used later', async (t) => {
	const { heard, url } = await server(t, answering(200, '{"ok":true,"nul":"a\\u0000b"}'))
	const { perform, visit, advance, id, pool, project } = await atCall(
		t,
		`${url}/hook?plan={{ plan }}`,
		{
			headers: { 'X-Name': '{{ event.product }}', 'Content-Length': '1' },
			body: { who: '{{ name }}', 'n{{ x }}': [1, { deep: '{{ event.product }}' }] },
		},
	)
	await perform()
	const [call] = heard
	t.is(call!.url, '/hook?plan=pro')
	t.is(call!.headers['x-name'], 'Tea and cups')
	t.is(call!.headers['content-type'], 'application/json')
	t.deepEqual(JSON.parse(call!.body), {
		who: 'Ann "A"',
		'n{{ x }}': [1, { deep: 'Tea\nand cups' }],
	})
	t.is(call!.headers['idempotency-key'], `${id}:2`)
	const secret = Buffer.from((await webhookSecret(pool, project.id)).slice(6), 'base64')
	const signed = `${id}:2.${String(call!.headers['webhook-timestamp'])}.${call!.body}`
	const expected = createHmac('sha256', secret).update(signed).digest('base64')
	t.is(call!.headers['webhook-signature'], `v1,${expected}`)
	t.like(await visit(), {
		status: 'COMPLETED',
		output: { statusCode: 200, success: true, response: { ok: true, nul: 'ab' } },
	})
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
})

test('a call is made and recorded while somebody else holds the contact', async (t) => {
	const { heard, url } = await server(t, answering(200))
	const { perform, visit, pool } = await atCall(t, url)
	const db = await pool.connect()
	await db.query('begin; select from contacts for no key update')
	let isHeld = true
	async function letGo() {
		if (isHeld) await db.query('commit')
		if (isHeld) db.release()
		isHeld = false
	}
	t.teardown(letGo)
	const call = perform()
	const first = await Promise.race([call.then(() => 'recorded'), sleep(20_000, 'waits')])
	const { length } = heard
	await letGo()
	await call
	t.is(first, 'recorded')
	t.is(length, 1)
	t.is((await visit()).status, 'COMPLETED')
})

test('a try that is late with its request makes none once another try has recorded the answer', async (t) => {
	const { heard, url } = await server(t, answering(200))
	const { perform, visit, pool } = await atCall(t, url)
	const isRendering = Promise.withResolvers<void>()
	const mayGoOn = Promise.withResolvers<void>()
	const slow = {
		async query(given: QueryConfig) {
			if (given.name === 'ensure-webhook-secret') {
				isRendering.resolve()
				await mayGoOn.promise
			}
			return pool.query(given)
		},
	} as unknown as Pool
	const late = perform(2, slow)
	await Promise.race([isRendering.promise, late])
	await perform()
	t.is((await visit()).status, 'COMPLETED')
	mayGoOn.resolve()
	await late
	t.is(heard.length, 1)
})

test('without a body of its own it sends contact, workflow, execution and event', async (t) => {
	const { heard, url } = await server(t, answering(204))
	const { perform } = await atCall(t, url)
	await perform()
	t.like(JSON.parse(heard[0]!.body), {
		contact: { email: 'ann@example.org', data: { plan: 'pro' } },
		workflow: { name: 'Welcome' },
		event: { product: 'Tea\nand cups' },
	})
})

for (const status of [429, 500, 503])
	test(`${status} is tried again under the same key, when the server says`, async (t) => {
		let tries = 0
		const { heard, url } = await server(t, (response) =>
			tries++ === 0
				? response.writeHead(status, { 'retry-after': '7' }).end()
				: response.writeHead(200).end(),
		)
		const { perform, visit } = await atCall(t, url)
		const error = await t.throwsAsync(perform())
		t.like(error, { type: 'WebhookFailed', nextRetryDelay: 7000 } as object)
		t.is((await visit()).status, 'RUNNING')
		await perform()
		t.is((await visit()).status, 'COMPLETED')
		t.is(heard[0]!.headers['idempotency-key'], heard[1]!.headers['idempotency-key'])
	})

test('a permanent failure ends the execution, and retry makes another call under another key', async (t) => {
	let status = 400
	const { heard, url } = await server(t, (response) => response.writeHead(status).end('no'))
	const { perform, executions, select, advance, id } = await atCall(t, url)
	await perform()
	t.like((await executions())[0], { status: 'FAILED', error: 'WebhookFailed: It answered 400' })
	await perform()
	t.is(heard.length, 1)
	status = 200
	await select(`update executions set status = 'RUNNING', error = null`)
	t.like(await advance(id), { do: 'CALL', visit: 3 })
	await perform(3)
	t.is(heard[1]!.headers['idempotency-key'], `${id}:3`)
	t.like(await advance(id, 3), { do: 'END', about: 'COMPLETED' })
})

test('with continueOnError the execution continues, and the answer shows the failure', async (t) => {
	const { url } = await server(t, answering(404, 'nothing here'))
	const { perform, visit, advance, id } = await atCall(t, url, { continueOnError: true })
	await perform()
	t.like(await visit(), {
		status: 'COMPLETED',
		output: { statusCode: 404, success: false, response: 'nothing here' },
	})
	t.like(await advance(id, 2), { do: 'END', about: 'COMPLETED' })
})

test('when the time for tries is over, a passing failure is the last', async (t) => {
	const { url } = await server(t, answering(503, '', { 'retry-after': '60' }))
	const { perform, executions } = await atCall(t, url, { retryFor: 30 })
	await perform()
	t.is((await executions())[0]!.status, 'FAILED')
})

/** Moves the steps of executions back in time. */
const later = (select: (query: string) => Promise<unknown>, seconds: number) =>
	select(`update execution_steps set started_at = started_at - interval '${seconds} seconds',
		reached_at = reached_at - interval '${seconds} seconds'`)

test('the time for tries begins with the first call, however late a worker makes it', async (t) => {
	const { url } = await server(t, answering(503))
	const { perform, executions, select } = await atCall(t, url, { retryFor: 30 })
	await later(select, 3600)
	await t.throwsAsync(perform())
	const [step] = await select<{ waited: boolean }>(
		`select started_at - reached_at > '59 minutes' as waited from execution_steps where type = 'WEBHOOK'`,
	)
	t.true(step!.waited)
	await later(select, 20)
	await t.throwsAsync(perform())
	t.is((await executions())[0]!.status, 'RUNNING')
	await later(select, 11)
	await perform()
	t.is((await executions())[0]!.status, 'FAILED')
})

test('tries are further and further apart, and the last one comes at the end', async (t) => {
	const { perform, executions, select } = await atCall(t, 'http://127.0.0.1:9/')
	const pauseMs = async () =>
		((await t.throwsAsync(perform())) as unknown as { nextRetryDelay: number }).nextRetryDelay
	const isAbout = (actual: number, expected: number) =>
		t.true(Math.abs(actual - expected) < 10_000, `${actual}`)
	t.is(await pauseMs(), 1000)
	await later(select, 60)
	isAbout(await pauseMs(), 15_000)
	await later(select, 1740)
	isAbout(await pauseMs(), 450_000)
	await later(select, 1740)
	isAbout(await pauseMs(), 60_000)
	await later(select, 60)
	await perform()
	t.is((await executions())[0]!.status, 'FAILED')
})

test('a call that is being retried shows its attempts and the latest error, until it succeeds', async (t) => {
	const statuses = [503, 429, 200]
	const { url } = await server(t, (response) => response.writeHead(statuses.shift()!).end())
	const { perform, call, executions, id } = await atCall(t, url)
	const { automation_id: workflow } = (await executions())[0] as unknown as Record<string, string>
	const step = async () =>
		(await call('GET', `/workflows/${workflow}/executions/${id}`)).json().stepExecutions[1]
	t.like(await step(), { status: 'RUNNING', attempts: null, error: null })
	await t.throwsAsync(perform())
	t.like(await step(), { status: 'RUNNING', attempts: 1, error: 'WebhookFailed: It answered 503' })
	await t.throwsAsync(perform())
	t.like(await step(), { status: 'RUNNING', attempts: 2, error: 'WebhookFailed: It answered 429' })
	await perform()
	t.like(await step(), { status: 'COMPLETED', attempts: 3, error: null })
})

test('a call that fails after its execution was cancelled writes nothing', async (t) => {
	const context: { cancel?: () => Promise<unknown> } = {}
	const { url } = await server(t, (response) => {
		void context.cancel!().then(() => response.writeHead(503).end())
	})
	const { perform, select } = await atCall(t, url)
	context.cancel = () => select(`update executions set status = 'CANCELLED', completed_at = now()`)
	await t.throwsAsync(perform())
	t.deepEqual(await select(`select attempts, error from execution_steps where type = 'WEBHOOK'`), [
		{ attempts: null, error: null },
	])
})

test('an unreachable server is tried again', async (t) => {
	const { perform, visit } = await atCall(t, 'http://127.0.0.1:9/')
	t.like(await t.throwsAsync(perform()), { type: 'WebhookFailed' } as object)
	t.is((await visit()).status, 'RUNNING')
})

test('no more than 64 KB of an answer are kept', async (t) => {
	const { url } = await server(t, answering(200, 'x'.repeat(200_000)))
	const { perform, visit } = await atCall(t, url)
	await perform()
	const { output } = (await visit()) as { output: { response: string } }
	t.is(output.response.length, 65_536)
})

test('redirects within a server are followed five times', async (t) => {
	const { heard, url } = await server(t, (response, { url: at }) => {
		const n = Number(at.slice(1))
		if (n === 5) response.writeHead(200).end()
		else response.writeHead(n === 4 ? 307 : 308, { location: `/${n + 1}` }).end()
	})
	const { perform, visit } = await atCall(t, `${url}/0`, { headers: { Authorization: 'secret' } })
	await perform()
	t.is((await visit()).status, 'COMPLETED')
	t.is(heard.length, 6)
	t.is(heard[5]!.headers['authorization'], 'secret')
	t.is(heard[5]!.method, 'POST')
	t.true(heard[5]!.body.length > 10)
})

for (const status of [301, 302, 303, 307, 308])
	for (const method of ['GET', 'POST'])
		test(`a ${status} to another server gets nothing of a ${method}, and fails the step with the reason`, async (t) => {
			const other = await server(t, answering(200))
			const { url } = await server(t, answering(status, '', { location: `${other.url}/end` }))
			const headers = { 'X-Api-Key': 'secret' }
			const { perform, visit, executions } = await atCall(t, url, { method, headers })
			await perform()
			t.is(other.heard.length, 0)
			t.is((await visit()).status, 'FAILED')
			const { error } = (await executions())[0]!
			t.regex(error!, /redirects to another server \(http:\/\/127\.0\.0\.1:\d+\), and signed/)
		})

test('a sixth redirect is refused', async (t) => {
	const { heard, url } = await server(t, answering(302, '', { location: '/again' }))
	const { perform, executions } = await atCall(t, url)
	await perform()
	t.is(heard.length, 6)
	t.is(heard[1]!.method, 'GET')
	t.regex((await executions())[0]!.error!, /redirects more than five times/)
})
