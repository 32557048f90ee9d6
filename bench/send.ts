import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import nodemailer from 'nodemailer'
import { poolOf } from '../db/statement.ts'
import type { Servers } from '../local/servers.ts'
import { atRest } from './at-rest.ts'
import { client, lanes, median, percentile, rateOf, underLoad, until } from './load.ts'
import { prepareStack, type Stack } from './stack.ts'
import { type SinkProcess, startSink } from './sink.ts'
import type { Row } from './table.ts'

const connections = 32
const batchSize = 100
const idleSends = 200
const loadSeconds = 15
const rounds = 3
const backlog = 10_000
const totalForMemory = 50_000

const html = `<p>Hello {{ name }},</p>${'<p>This is what a message of ours looks like, with a <a href="https://example.com/a">link</a>.</p>'.repeat(40)}`

const mailTo = (to: string) => ({
	to,
	from: 'bench@example.com',
	subject: 'A measured mail for {{ name }}',
	body: html,
	data: { name: 'Ann' },
})

/** The speed of POST /v1/send and of delivery, each compared with the bare operation in the same run. */
export async function bench(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	const http = client(stack.apiUrl, stack.secretKey, connections)
	const send = async (to: string) => await http.post('/v1/send', mailTo(to))
	try {
		await stack.api.start()
		await stack.worker.start()
		for (let i = 0; i < 300; i++) await send(`warm-${i}@example.org`)
		await drained(stack, sink, 300)

		return [
			...(await idleLatency(send, sink)),
			...(await acceptance(send, http, stack)),
			await drain(send, stack, sink),
			...(await memory(send, stack, sink)),
		]
	} finally {
		http.close()
		await stack.stop()
		await sink.close()
	}
}

/** One request at a time: from its first byte to the sink's answer to the mail. */
async function idleLatency(send: Send, sink: SinkProcess): Promise<Row[]> {
	await sink.forget()
	const begun = new Map<string, number>()
	for (let i = 0; i < idleSends; i++) {
		const at = Date.now()
		const answer = await send(`idle-${i}@example.org`)
		begun.set(JSON.parse(answer.body).data.emails[0].email, at)
		await until(async () => (await sink.statistics()).accepted > i, 5000, 4)
		await sleep(20)
	}
	const delays = (await sink.mails()).map(({ emailId, at }) => at - begun.get(emailId)!)
	const floor = await bareDelays(sink)
	const shown = (share: number) => `${percentile(delays, share)} ms`
	return [
		{
			what: 'idle, request to mail at the sink, p50',
			reached: shown(0.5),
			target: '<= 90 ms',
			floor: `${median(floor).toFixed(1)} ms (bare nodemailer)`,
			isMet: percentile(delays, 0.5) <= 90,
		},
		{
			what: 'idle, request to mail at the sink, p99',
			reached: shown(0.99),
			target: '<= 400 ms',
			floor: `${percentile(floor, 0.99).toFixed(1)} ms (bare nodemailer)`,
			isMet: percentile(delays, 0.99) <= 400,
		},
	]
}

/** Requests on 32 connections while the worker delivers. */
async function acceptance(send: Send, http: Http, stack: Stack): Promise<Row[]> {
	let sent = 0
	const { rate, p99, failures } = await underLoad(
		{ connections, rounds, roundMs: (loadSeconds / rounds) * 1000 },
		() => send(`load-${sent++}@example.org`),
	)
	// Both begin with nothing left to deliver.
	await atRest(await poolOf(stack.orm.em), 120_000)
	const batches = await underLoad({ connections, rounds, roundMs: 3000 }, () =>
		http.post(
			'/v1/send/batch',
			Array.from({ length: batchSize }, () => mailTo(`batch-${sent++}@example.org`)),
		),
	)
	const inBatches = batches.rate * batchSize
	const floor = await bareInserts(stack)
	return [
		{
			what: `accepted mails a second in batches of ${batchSize}, ${connections} connections`,
			reached: `${inBatches.toFixed(0)}/s, ${batches.failures} failed`,
			target: '>= 3 times the mails of single requests',
			floor: `${rate.toFixed(0)}/s (single requests)`,
			isMet: inBatches >= 3 * rate && batches.failures === 0,
		},
		{
			what: `accepted requests a second, ${connections} connections`,
			reached: `${rate.toFixed(0)}/s, ${failures} failed`,
			target: '>= 400/s, no 5xx',
			floor: `${floor.toFixed(0)}/s (bare INSERT)`,
			isMet: rate >= 400 && failures === 0,
		},
		{
			what: 'their answers, p99',
			reached: `${p99.toFixed(0)} ms`,
			target: '<= 250 ms',
			floor: '',
			isMet: p99 <= 250,
		},
	]
}

/** The rate at which a starting worker delivers a backlog. */
async function drain(send: Send, stack: Stack, sink: SinkProcess): Promise<Row> {
	await atRest(await poolOf(stack.orm.em), 120_000)
	const rates: number[] = []
	for (let round = 0; round < rounds; round++) {
		await stack.worker.stop()
		await sink.forget()
		let sent = 0
		await lanes(
			connections,
			() => sent < backlog,
			() => send(`drain-${round}-${sent++}@example.org`),
		)
		const accepted = await countMails(stack)
		await stack.worker.start()
		await until(async () => (await sink.statistics()).accepted > 0, 30_000, 5)
		const startedAt = performance.now()
		const first = (await sink.statistics()).accepted
		await drained(stack, sink, sent)
		const seconds = (performance.now() - startedAt) / 1000
		rates.push((sent - first) / seconds)
		if (accepted < sent) throw new Error('some requests were refused')
	}
	const floor = await bareMails(sink)
	return {
		what: `drain of ${backlog} single sends`,
		reached: `${median(rates).toFixed(0)}/s`,
		target: '>= 800/s',
		floor: `${floor.toFixed(0)}/s (bare nodemailer pool)`,
		isMet: median(rates) >= 800,
	}
}

/** Continues until these processes have sent 50,000 mails; measures them half-way and at the end. */
async function memory(send: Send, stack: Stack, sink: SinkProcess): Promise<Row[]> {
	await sink.forget()
	let sent = 0
	const goOn = async (to: number) => {
		await lanes(
			connections,
			() => sent < to,
			() => send(`memory-${sent++}@example.org`),
		)
		await drained(stack, sink, sent)
		return { api: residentMb(stack.api.pid()), worker: residentMb(stack.worker.pid()) }
	}
	const half = await goOn(totalForMemory / 2)
	const full = await goOn(totalForMemory)
	return (
		[
			['api', 300],
			['worker', 700],
		] as const
	).map(([name, mostMb]) => ({
		what: `memory of ${name} after ${totalForMemory} sends`,
		reached: `${full[name]} MB (${half[name]} MB half-way)`,
		target: `<= ${mostMb} MB, not growing`,
		floor: '',
		isMet: full[name] <= mostMb && full[name] <= half[name] * 1.15,
	}))
}

type Http = ReturnType<typeof client>
type Send = (to: string) => ReturnType<Http['post']>

const drained = async (stack: Stack, sink: SinkProcess, count: number) => {
	if (await until(async () => (await sink.statistics()).accepted >= count, 300_000, 20)) return
	throw new Error(`the mails do not arrive:\n${stack.worker.output()}`)
}

const countMails = (stack: Stack) => count(stack, 'select count(*)::int as n from emails')

const count = async ({ orm }: Stack, sql: string) => {
	const [row] = await orm.em.fork().execute<{ n: number }[]>(sql)
	return row!.n
}

function residentMb(pid: number) {
	const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
	return Math.round(Number(kb) / 1024)
}

// The floors: the same sink and the same database without our code.

const readyMade = (to: string) => ({
	envelope: { from: 'bench@example.com', to },
	raw: `From: bench@example.com\r\nTo: ${to}\r\nSubject: bare\r\nContent-Type: text/html\r\n\r\n${html}\r\n`,
})

async function bareDelays(sink: SinkProcess) {
	const transport = nodemailer.createTransport({ url: sink.url, pool: true })
	const delays: number[] = []
	for (let i = 0; i < idleSends; i++) {
		const startedAt = performance.now()
		await transport.sendMail(readyMade(`bare-${i}@example.org`))
		delays.push(performance.now() - startedAt)
	}
	transport.close()
	return delays
}

async function bareMails(sink: SinkProcess) {
	const transport = nodemailer.createTransport({ url: sink.url, pool: true, maxConnections: 20 })
	const startedAt = performance.now()
	let sent = 0
	await lanes(
		20,
		() => sent < backlog,
		() => transport.sendMail(readyMade(`bare-${sent++}@example.org`)),
	)
	transport.close()
	return (sent / (performance.now() - startedAt)) * 1000
}

async function bareInserts({ orm }: Stack) {
	const em = orm.em.fork()
	await em.execute('create table if not exists bare (id uuid default uuidv7(), body text)')
	return rateOf(connections, 3000, () =>
		orm.em.fork().execute('insert into bare (body) values (?)', [html]),
	)
}
