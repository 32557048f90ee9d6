import test from 'ava'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { atRest } from '../bench/at-rest.ts'
import { type Answer, client, lanes } from '../bench/load.ts'
import { startSink } from '../bench/sink.ts'
import { prepareStack, service, type Service } from '../bench/stack.ts'
import config from '../db/config.ts'
import { poolOf } from '../db/statement.ts'
import { anyPort } from '../local/ports.ts'

test('APIs and workers that replace one another under load lose, repeat and doubt nothing', async (t) => {
	t.timeout(300_000)
	const sink = await startSink(['--delay', '100'])
	t.teardown(sink.close)
	const env = {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		SESSION_SECRET: randomUUID(),
		RATE_LIMIT_PER_MINUTE: '0',
		SEND_RATE_PER_SECOND: '0',
	}
	const stack = await prepareStack(
		{
			databaseUrl: process.env['DATABASE_URL']!,
			temporalAddress: process.env['TEMPORAL_ADDRESS']!,
		},
		env,
	)
	t.teardown(stack.stop)
	const port = await anyPort()
	const pathname = stack.orm.config.get('dbName')!
	const others = {
		...env,
		DATABASE_URL: Object.assign(new URL(String(config.clientUrl)), { pathname }).href,
		TEMPORAL_NAMESPACE: stack.namespace,
		PORT: String(port),
	}
	const otherApi = service('api/main.ts', others, async (output) => output().includes('listening'))
	const otherWorker = service('activities/worker.ts', others, async (output) =>
		output().includes('the worker runs'),
	)
	t.teardown(() => Promise.all([otherApi.stop(), otherWorker.stop()]))
	const old = [stack.api, stack.worker]
	const young = [otherApi, otherWorker]
	await start(old)

	const urls = [stack.apiUrl, `http://127.0.0.1:${port}`]
	const clients = urls.map((url) => client(url, stack.secretKey, 4))
	t.teardown(() => clients.forEach((one) => one.close()))
	const failed: Answer[] = []
	const accepted = new Map<string, string>()
	let asked = 0
	let isRolling = true

	/**
	 * Like a caller behind a balancer: an ended process gets no more requests, and the same key identifies
	 * the request.
	 */
	async function send(to: string) {
		const mail = { to, from: 'drill@example.com', subject: 'Roll', body: '<p>One mail, once.</p>' }
		const headers = { 'idempotency-key': to }
		for (let turn = asked; ; turn++) {
			const answer = await clients[turn % 2]!.post('/v1/send', mail, headers)
			const original = outcomeOf(answer)
			if (original) return void accepted.set(to, original.data.emails[0]!.email)
			if (answer.status !== 0 && answer.status !== 409) return void failed.push(answer)
			await sleep(20)
		}
	}

	/** Like an orchestrator: the new processes run before the old ones are stopped. */
	const roll = async () => {
		for (const [leaving, coming] of [
			[old, young],
			[young, old],
		] as const) {
			await start(coming)
			await sleep(500)
			await Promise.all(leaving.map((one) => one.stop('SIGTERM')))
			await sleep(500)
		}
		isRolling = false
	}
	const load = lanes(
		4,
		() => isRolling,
		async () => {
			await send(`roll-${asked++}@example.org`)
			await sleep(250)
		},
	)
	await Promise.all([roll(), load])

	t.deepEqual(failed, [])
	t.is(accepted.size, asked)
	t.true(asked > 40, `${asked} requests`)
	t.deepEqual(await atRest(await poolOf(stack.orm.em), 60_000), [])
	const mails = await stack.orm.em
		.fork()
		.execute<{ id: string; to: string; status: string }[]>(`select id, "to", status from emails`)
	t.is(mails.length, asked)
	t.true(mails.every(({ status }) => status === 'SENT'))
	t.deepEqual(
		mails.filter(({ to, id }) => accepted.get(to) !== id),
		[],
	)
	const taken = (await sink.mails()).map(({ emailId }) => emailId)
	t.is(taken.length, asked)
	t.is(new Set(taken).size, asked)
	// A stopped process finishes its work first, so nothing was ever in doubt.
	const doubts = `select from attempts where outcome = 'UNKNOWN' or attempt > 1`
	t.deepEqual(await stack.orm.em.fork().execute(doubts), [])
})

const start = (services: Service[]) => Promise.all(services.map((one) => one.start()))

interface Accepted {
	data: { emails: { email: string }[] }
}

/** The outcome of a request, from this answer or an earlier try; undefined while it is unknown. */
function outcomeOf({ status, body }: Answer): Accepted | undefined {
	if (status === 200) return JSON.parse(body) as Accepted
	if (status !== 409) return undefined
	return (JSON.parse(body) as { error: { details: { response?: Accepted } } }).error.details
		.response
}
