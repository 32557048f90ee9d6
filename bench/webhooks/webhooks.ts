import { setTimeout as sleep } from 'node:timers/promises'
import { poolOf } from '../../db/statement.ts'
import type { Servers } from '../../local/servers.ts'
import {
	api,
	createCampaign,
	ended,
	seedRecipients,
	sendCampaign,
} from '../campaign/campaign-run.ts'
import { cpuMeter, peakMb } from '../cpu.ts'
import { median, percentile, until } from '../load.ts'
import { startSink, type SinkProcess } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { drillWebhooks } from './webhook-drill.ts'

/** npm run bench webhooks [part] */
const parts: Record<string, (run: Run) => Promise<Row[]>> = {
	latency,
	speed,
	campaign,
	dead,
	kills,
}

interface Run {
	servers: Servers
	stack: Stack
	sink: SinkProcess
	receiver: Receiver
}

const events = 20_000
const idleEvents = 60
const recipients = 10_000
const rounds = 3
const deadWaiting = 1_000_000
const killed = 50

export async function bench(servers: Servers): Promise<Row[]> {
	const wanted = process.argv[3] ? [process.argv[3]] : Object.keys(parts)
	const rows: Row[] = []
	for (const name of wanted) {
		const part = parts[name]
		if (!part)
			throw new Error(`There is no part ${name}. There are: ${Object.keys(parts).join(', ')}`)
		rows.push(...(await onFreshStack(servers, part)))
	}
	return rows
}

async function onFreshStack(servers: Servers, part: (run: Run) => Promise<Row[]>) {
	const [sink, receiver] = [await startSink(), await startReceiver()]
	const stack = await prepareStack(servers, {
		EMAIL_PROVIDER: 'smtp',
		SMTP_URL: sink.url,
		ALLOW_PRIVATE_WEBHOOKS: 'true',
	})
	try {
		await stack.api.start()
		await stack.worker.start()
		return await part({ servers, stack, sink, receiver })
	} finally {
		await stack.stop()
		await receiver.close()
		await sink.close()
	}
}

const addEndpoint = (stack: Stack, url: string, types: string[]) =>
	api<{ id: string }>(stack, 'POST', '/webhook-endpoints', { url, events: types })

/** From before the request that tracks an event until the endpoint has it. */
async function delays({ stack, receiver }: Run) {
	await receiver.forget()
	const begun: number[] = []
	for (let i = 0; i < idleEvents; i++) {
		begun.push(Date.now())
		await api(stack, 'POST', '/events/track', { event: 'idle', email: 'ann@example.org' })
		await until(async () => (await receiver.received()).requests > i, 10_000, 5)
		await sleep(100)
	}
	const heard = await receiver.bodies()
	return heard.map(({ at }, i) => at - begun[i]!)
}

async function latency(run: Run): Promise<Row[]> {
	await addEndpoint(run.stack, run.receiver.url, ['event.*'])
	await delays(run)
	const taken = await delays(run)
	return [
		{
			what: 'idle, request to endpoint, p50',
			reached: `${median(taken)} ms`,
			target: '<= 250 ms',
			floor: '',
			isMet: median(taken) <= 250,
		},
		{
			what: 'idle, request to endpoint, p99',
			reached: `${percentile(taken, 0.99)} ms`,
			target: '<= 1500 ms',
			floor: '',
			isMet: percentile(taken, 0.99) <= 1500,
		},
	]
}

async function speed({ servers, stack, receiver }: Run): Promise<Row[]> {
	await addEndpoint(stack, receiver.url, ['event.*'])
	const pool = await poolOf(stack.orm.em)
	const meter = await cpuMeter(stack, servers.temporalAddress)
	const rates: number[] = []
	const costs: number[] = []
	const workerCosts: number[] = []
	for (let round = 0; round < rounds; round++) {
		await stack.worker.stop()
		await receiver.forget()
		await pool.query(
			`insert into events (project_id, name, data)
			select $1, 'bench', jsonb_build_object('plan', 'pro', 'n', n) from generate_series(1, $2::int) n`,
			[stack.projectId, events],
		)
		await pool.query('vacuum analyze webhook_deliveries')
		await stack.worker.start()
		meter.read()
		await until(async () => (await receiver.received()).distinct === events, 60_000, 100)
		const used = meter.read()
		const { distinct, firstAt, lastAt } = await receiver.received()
		if (distinct < events) throw new Error(`only ${distinct} arrived`)
		rates.push(events / ((lastAt - firstAt) / 1000))
		costs.push((1000 * (used.worker + used.postgres + used.temporal)) / events)
		workerCosts.push((1000 * used.worker) / events)
	}
	return [
		{
			what: `${events} deliveries to one endpoint`,
			reached: `${median(rates).toFixed(0)}/s`,
			target: '>= 2000/s',
			floor: '',
			isMet: median(rates) >= 2000,
		},
		{
			what: 'CPU of a delivery: worker, Postgres and Temporal',
			reached: `${median(costs).toFixed(2)} ms, of which worker ${median(workerCosts).toFixed(2)}`,
			target: '<= 0.5 ms',
			floor: '',
			isMet: median(costs) <= 0.5,
		},
	]
}

/** The same campaign without and with an endpoint that gets `email.sent`, in turn. */
async function campaign({ stack, sink, receiver }: Run): Promise<Row[]> {
	await seedRecipients(stack, recipients)
	const send = async () => {
		await sink.forget()
		const id = await createCampaign(stack)
		await sendCampaign(stack, id)
		await ended(stack, id)
		const { firstAt, lastAt } = await sink.statistics()
		return recipients / ((lastAt - firstAt) / 1000)
	}
	await send()
	const without: number[] = []
	const withOne: number[] = []
	for (let round = 0; round < rounds; round++) {
		without.push(await send())
		await receiver.forget()
		const { id } = await addEndpoint(stack, receiver.url, ['email.sent'])
		withOne.push(await send())
		await until(async () => (await receiver.received()).distinct === recipients, 60_000, 100)
		await fetch(`${stack.apiUrl}/webhook-endpoints/${id}`, {
			method: 'DELETE',
			headers: { authorization: `Bearer ${stack.secretKey}` },
		})
	}
	const slower = 1 - median(withOne) / median(without)
	return [
		{
			what: `campaign of ${recipients} with an endpoint on email.sent`,
			reached: `${(100 * slower).toFixed(1)} % slower (${median(withOne).toFixed(0)}/s)`,
			target: '<= 10 %',
			floor: `${median(without).toFixed(0)}/s without`,
			isMet: slower <= 0.1,
		},
	]
}

/** An endpoint that does not answer, with a million deliveries waiting, beside one that does. */
async function dead(run: Run): Promise<Row[]> {
	const { stack, receiver } = run
	await addEndpoint(stack, receiver.url, ['event.*'])
	const before = await delays(run)
	const memory = peakMb(stack.worker.pid())
	const { id } = await addEndpoint(stack, 'http://127.0.0.1:9/', ['event.other'])
	const pool = await poolOf(stack.orm.em)
	await pool.query(
		`insert into webhook_deliveries (project_id, endpoint_id, event_id, type, occurred_at, data, status, next_at)
		select $1, $2, uuidv7(), 'event.other', now(), '{"plan": "pro"}', 'PENDING', now()
		from generate_series(1, $3::int)`,
		[stack.projectId, id, deadWaiting],
	)
	await sleep(15_000)
	const after = await delays(run)
	const more = peakMb(stack.worker.pid()) - memory
	const shown = (taken: number[]) => `${median(taken)} ms`
	return [
		{
			what: `another endpoint's latency beside a dead one with ${deadWaiting} waiting, p50`,
			reached: shown(after),
			target: `<= ${Math.max(250, median(before))} ms`,
			floor: `${shown(before)} (before)`,
			isMet: median(after) <= Math.max(250, median(before)),
		},
		{
			what: "the worker's memory for it",
			reached: `${more.toFixed(0)} MB`,
			target: '<= 50 MB',
			floor: '',
			isMet: more <= 50,
		},
	]
}

async function kills({ servers }: Run): Promise<Row[]> {
	const { lost, repeated, unsettled } = await drillWebhooks(servers, events, killed)
	return [
		{
			what: `${events} deliveries while the worker is killed ${killed} times`,
			reached: `${lost} lost, ${unsettled} unsettled, ${repeated} repeated`,
			target: 'none lost',
			floor: '',
			isMet: lost === 0 && unsettled === 0,
		},
	]
}
