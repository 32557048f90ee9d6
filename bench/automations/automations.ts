import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Servers } from '../../local/servers.ts'
import { delayStep, freeze, mailStep, waitStep } from '../../test/helpers/executions.ts'
import { killWorker } from '../drill.ts'
import { client, lanes, median, percentile, until } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { counted, journeys } from './automation-drill.ts'
import { poolOfStack, templateOf } from './automation-stack.ts'
import { trackingCost } from './automation-tracking.ts'

/** Small figures show that it works; the full ones are those of the promises. */
export const full = {
	waits: 200,
	parked: 5000,
	due: 300,
	enrolments: 600,
	sends: 500,
	cached: 20_000,
	kills: 8,
}
export type Size = typeof full

/** The cost and delays of executions, with everything on this machine. */
export async function bench(servers: Servers, size: Size = full): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	const rows: Row[] = []
	try {
		await stack.api.start()
		await stack.worker.start()
		const make = await maker(stack)
		rows.push(...(await eventLatency(stack, sink, make, size)))
		rows.push(await throughput(stack, sink, make, size))
		rows.push(await besideEnrolments(stack, make, size))
		rows.push(await timers(stack, make, size))
		rows.push(await parkedMemory(stack, make, size))
		rows.push(...(await trackingCost(stack)))
	} finally {
		await stack.stop()
		await sink.close()
	}
	rows.push(await drillRow(servers, size))
	return rows
}

type Maker = Awaited<ReturnType<typeof maker>>

async function maker(stack: Stack) {
	const pool = await poolOfStack(stack)
	const templateId = await templateOf(stack)
	return {
		freeze: (sketch: Parameters<typeof freeze>[3]) =>
			freeze(pool, stack.projectId, templateId, sketch),
		http: client(stack.apiUrl, stack.publicKey, 16),
		secret: client(stack.apiUrl, stack.secretKey, 16),
	}
}

const track = async ({ http }: Maker, email: string, event: string) => {
	const { status, body } = await http.post('/v1/track', { email, event })
	if (status !== 200) throw new Error(`track: ${status} ${body}`)
}

/** One event at a time: from the first byte of its request to the sink's answer to the mail. */
async function eventLatency(stack: Stack, sink: SinkProcess, make: Maker, { waits }: Size) {
	await make.freeze({ on: 'wait-begin', steps: [waitStep('wait-end'), mailStep], name: 'Waits' })
	for (let i = 0; i < waits; i++) await track(make, `wait-${i}@example.org`, 'wait-begin')
	const waiting = `select count(*)::int as n from executions where wait_event_name is not null`
	await until(async () => (await counted(stack, waiting)) === waits, 120_000, 50)
	await sink.forget()
	const begun = new Map<string, number>()
	for (let i = 0; i < waits; i++) {
		const email = `wait-${i}@example.org`
		begun.set(email, Date.now())
		await track(make, email, 'wait-end')
		await until(async () => (await sink.statistics()).accepted > i, 5000, 4)
		await sleep(20)
	}
	const delays = (await sink.mails()).map(({ to, at }) => at - begun.get(to)!)
	return (
		[
			[0.5, 200],
			[0.99, 1000],
		] as const
	).map(([share, most]) => ({
		what: `event to the waiting execution's mail at the sink, p${share * 100}`,
		reached: `${percentile(delays, share)} ms`,
		target: `<= ${most} ms`,
		floor: '',
		isMet: percentile(delays, share) <= most,
	}))
}

const completed = `select count(*)::int as n from executions x join automations a
	on a.id = x.automation_id where a.event_name = 'enrol' and x.status = 'COMPLETED'`

/** Enrolments as fast as possible. */
async function throughput(
	stack: Stack,
	sink: SinkProcess,
	make: Maker,
	{ enrolments }: Size,
): Promise<Row> {
	await make.freeze({
		on: 'enrol',
		steps: [mailStep, delayStep(1), mailStep],
		name: 'Three steps',
	})
	const startedAt = performance.now()
	let sent = 0
	await lanes(
		16,
		() => sent < enrolments,
		() => track(make, `enrol-${sent++}@example.org`, 'enrol'),
	)
	await until(async () => (await counted(stack, completed)) === enrolments, 300_000, 50)
	const rate = enrolments / ((performance.now() - startedAt) / 1000)
	await until(async () => (await sink.statistics()).accepted >= 2 * enrolments, 60_000, 50)
	return {
		what: `${enrolments} executions of mail, delay, mail`,
		reached: `${rate.toFixed(1)} completed/s`,
		target: '>= 15/s',
		floor: '',
		isMet: rate >= 15,
	}
}

/** Sends without enrolments, then with ten enrolments a second. */
async function besideEnrolments(
	stack: Stack,
	make: Maker,
	{ enrolments, sends }: Size,
): Promise<Row> {
	await sendTimes(make, sends / 4)
	const alone = await sendTimes(make, sends)
	const startedAt = performance.now()
	let isOver = false
	let count = 0
	const enrolling = (async () => {
		for (; !isOver; count++) {
			await track(make, `ten-${count}@example.org`, 'enrol')
			await sleep(Math.max(0, startedAt + count * 100 - performance.now()))
		}
	})()
	// By then the first executions reach their second mail.
	await sleep(2000)
	const beside = await sendTimes(make, sends)
	isOver = true
	await enrolling
	await until(async () => (await counted(stack, completed)) === enrolments + count, 60_000, 50)
	const p99 = (times: number[]) => percentile(times, 0.99)
	return {
		what: `/v1/send beside 10 enrolments a second, p99 of ${sends}`,
		reached: `${p99(beside).toFixed(0)} ms`,
		target: '<= 2x alone',
		floor: `${p99(alone).toFixed(0)} ms (alone)`,
		isMet: p99(beside) <= 2 * p99(alone),
	}
}

let sendsMade = 0

async function sendTimes({ secret }: Maker, count: number) {
	const times: number[] = []
	for (let i = 0; i < count; i++) {
		const { ms, status, body } = await secret.post('/v1/send', {
			to: `beside-${sendsMade++}@example.org`,
			from: 'bench@example.com',
			subject: 'Beside',
			body: '<p>Beside</p>',
		})
		if (status !== 200) throw new Error(`send: ${status} ${body}`)
		times.push(ms)
		await sleep(40)
	}
	return times
}

/** Executions that are due ten a second while thousands of others wait. */
async function timers(stack: Stack, make: Maker, { parked, due }: Size): Promise<Row> {
	await make.freeze({ on: 'park', steps: [delayStep(30, 'days'), mailStep], name: 'Parks' })
	await park(stack, make, 'parked', parked)
	await make.freeze({ on: 'tick', steps: [delayStep(20), ['EXIT', { reason: null }]], name: 'Due' })
	for (let i = 0; i < due; i++) {
		await track(make, `tick-${i}@example.org`, 'tick')
		await sleep(100)
	}
	const left = `select count(*)::int as n from executions x join automations a
		on a.id = x.automation_id where a.event_name = 'tick' and x.status <> 'EXITED'`
	await until(async () => (await counted(stack, left)) === 0, 120_000, 100)
	const late = await stack.orm.em.fork().execute<{ ms: number }[]>(
		`select extract(epoch from s.completed_at - s.wakes_at)::float8 * 1000 as ms
		from execution_steps s join executions x on x.project_id = s.project_id and x.id = s.execution_id
		join automations a on a.id = x.automation_id
		where a.event_name = 'tick' and s.type = 'DELAY'`,
	)
	const p99 = percentile(
		late.map(({ ms }) => ms),
		0.99,
	)
	return {
		what: `timer due to next step, 10 a second beside ${parked} parked, p99`,
		reached: `${p99.toFixed(0)} ms (p50 ${median(late.map(({ ms }) => ms)).toFixed(0)})`,
		target: '<= 1000 ms',
		floor: '',
		isMet: p99 <= 1000,
	}
}

/** Starts executions that sleep, until this many do. */
async function park(stack: Stack, make: Maker, name: string, count: number) {
	let sent = 0
	await lanes(
		16,
		() => sent < count,
		() => track(make, `${name}-${sent++}@example.org`, 'park'),
	)
	const running = `select count(*)::int as n from executions x join automations a
		on a.id = x.automation_id where a.event_name = 'park' and x.status = 'RUNNING'`
	await until(async () => (await counted(stack, running)) === 0, 3_600_000, 200)
}

async function parkedMemory(stack: Stack, make: Maker, { parked, cached }: Size): Promise<Row> {
	await park(stack, make, 'cached', cached - parked)
	const [, kb] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${stack.worker.pid()}/status`, 'utf8'))!
	const mb = Math.round(Number(kb) / 1024)
	return {
		what: `memory of the worker, ${cached} executions parked`,
		reached: `${mb} MB`,
		target: '<= 700 MB',
		floor: '',
		isMet: mb <= 700,
	}
}

async function drillRow(servers: Servers, { kills }: Size): Promise<Row> {
	const count = kills * 60
	const { stuck, doubled, lost, repeated, uncertain, completed } = await journeys(
		servers,
		count,
		10,
		(stack) => killWorker(stack, kills, [500, 4000])(),
	)
	return {
		what: `${count} journeys of nine steps, worker killed ${kills} times`,
		reached: `${completed} completed, ${stuck} stuck, ${doubled} doubled, ${lost} lost, ${repeated} repeated`,
		target: 'all completed, else 0',
		floor: `${uncertain} mails in doubt`,
		isMet: completed === count && stuck + doubled + lost + repeated === 0,
	}
}
