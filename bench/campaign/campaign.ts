import nodemailer from 'nodemailer'
import type { Servers } from '../../local/servers.ts'
import { lanes, median } from '../load.ts'
import { type SinkProcess, startSink } from '../sink.ts'
import { prepareStack, type Stack } from '../stack.ts'
import { printTable, type Row } from '../table.ts'
import { beside } from './campaign-beside.ts'
import { faults } from './campaign-faults.ts'
import { type Floors, floorsOf } from './campaign-floors.ts'
import { content, type Run, runCampaign, seedRecipients } from './campaign-run.ts'
import { workers } from './campaign-workers.ts'

/**
 * npm run bench campaign [recipients] [part]: compares with a tenth and ten times as many. Fewer for a quick
 * look; the promises are for 100,000. `part` runs only one of the parts below.
 */
const recipients = Number(process.argv[3] ?? 100_000)
const few = Math.max(1000, Math.round(recipients / 10))
const many = recipients * 10
const rounds = 3

const parts: Record<string, (servers: Servers) => Promise<Row[]>> = {
	speed,
	slow,
	faults: (servers) => faults(servers, Math.min(20_000, recipients)),
	beside: (servers) => beside(servers, recipients),
	workers: (servers) => workers(servers, recipients),
}

export async function bench(servers: Servers): Promise<Row[]> {
	const wanted = process.argv[4] ? [process.argv[4]] : Object.keys(parts)
	const rows: Row[] = []
	for (const name of wanted) {
		if (!parts[name])
			throw new Error(`There is no part ${name}. There are: ${Object.keys(parts).join(', ')}`)
		rows.push(...(await parts[name](servers)))
	}
	return rows
}

async function speed(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	try {
		await stack.api.start()
		await stack.worker.start()
		const run = (count: number) => measured(stack, sink, servers, count)
		await seedRecipients(stack, few)
		await run(few) // warms every process up
		const small = await thrice(() => run(few))
		await seedRecipients(stack, recipients)
		const runs = await thrice(() => run(recipients))
		const floor = await bareMails(sink, Math.min(20_000, recipients))
		const floors = await floorsOf(stack, sink, servers.temporalAddress)
		const table = rowsOf(runs, floor, floors)
		printTable(`${recipients} recipients`, table)
		await seedRecipients(stack, many)
		const large = await run(many)
		return [...table, ...compared(small, large)]
	} finally {
		await stack.stop()
		await sink.close()
	}
}

/** With servers that are slow for each mail. */
async function slow(servers: Servers): Promise<Row[]> {
	const rows: Row[] = []
	for (const [delayMs, count, target] of [
		[300, 400, 55],
		[50, 3000, 300],
	] as const) {
		const sink = await startSink(['--delay', String(delayMs)])
		const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
		try {
			await stack.api.start()
			await stack.worker.start()
			await seedRecipients(stack, count)
			const { perSecond } = await runCampaign(stack, sink, servers.temporalAddress, count)
			rows.push({
				what: `${count} recipients, 20 connections to a server that takes ${delayMs} ms a mail`,
				reached: `${perSecond.toFixed(0)} mails/s`,
				target: `>= ${target} mails/s`,
				floor: `${((20 / delayMs) * 1000).toFixed(0)}/s, were no connection ever idle`,
				isMet: perSecond >= target,
			})
		} finally {
			await stack.stop()
			await sink.close()
		}
	}
	return rows
}

async function measured(stack: Stack, sink: SinkProcess, servers: Servers, count: number) {
	const run = await runCampaign(stack, sink, servers.temporalAddress, count)
	const { worker, postgres, api, temporal } = run.cpuPerThousand
	console.log(
		`${count}: ${run.perSecond.toFixed(0)}/s, ${run.wholeSeconds.toFixed(1)} s in all; CPU per 1,000: ` +
			`worker ${worker.toFixed(3)}, Postgres ${postgres.toFixed(3)}, API ${api.toFixed(3)}, Temporal ${temporal.toFixed(3)}`,
	)
	return run
}

async function thrice(run: () => Promise<Run>) {
	const runs: Run[] = []
	for (let round = 0; round < rounds; round++) runs.push(await run())
	return runs
}

const of = (runs: Run[], pick: (run: Run) => number) => median(runs.map(pick))

function rowsOf(runs: Run[], floor: number, floors: Floors): Row[] {
	const perSecond = of(runs, (run) => run.perSecond)
	const cpu = of(runs, (run) => run.cpuPerThousand.all)
	const statements = of(runs, (run) => run.transactionsPerMail)
	const postgres = of(runs, (run) => run.cpuPerThousand.postgres)
	const both = postgres + of(runs, (run) => run.cpuPerThousand.worker)
	const bytes = of(runs, (run) => run.bytesPerMail)
	const whole = `bare socket ${floors.socket.toFixed(3)} s + bare Postgres ${floors.postgres.toFixed(3)} s`
	return [
		{
			what: `${recipients} recipients, first mail to last, median of ${rounds}`,
			reached: `${perSecond.toFixed(0)} mails/s, SENT ${of(runs, (run) => run.wholeSeconds).toFixed(1)} s after the request`,
			target: '>= 5,000 mails/s',
			floor: `${floor.toFixed(0)}/s (bare nodemailer pool, ready-made messages)`,
			isMet: perSecond >= 5000,
		},
		{
			what: 'CPU of all processes but the sink, freezing included',
			reached: `${cpu.toFixed(3)} s per 1,000 mails`,
			target: '<= 0.35 s',
			floor: '',
			isMet: cpu <= 0.35,
		},
		{
			what: 'CPU of worker and Postgres against what no mailer can do without',
			reached: `${both.toFixed(3)} s per 1,000 mails: ${(both / (floors.socket + floors.postgres)).toFixed(1)} times`,
			target: '<= 3 times',
			floor: whole,
			isMet: both <= 3 * (floors.socket + floors.postgres),
		},
		{
			what: 'of it Postgres',
			reached: `${postgres.toFixed(3)} s per 1,000 mails: ${(postgres / floors.postgres).toFixed(1)} times`,
			target: '<= 1.6 times',
			floor: 'one insert and one update in batches of 200',
			isMet: postgres <= 1.6 * floors.postgres,
		},
		{
			what: 'stored for a sent mail, all tables and indexes',
			reached: `${bytes.toFixed(0)} bytes`,
			target: '<= 600 bytes',
			floor: `${floors.stored.toFixed(0)} bytes (the rows and their primary key)`,
			isMet: bytes <= 600,
		},
		{
			what: 'transactions, nearly all of one statement',
			reached: `${statements.toFixed(4)} a mail`,
			target: '<= 0.05 statements',
			floor: '',
			isMet: statements <= 0.05,
		},
	]
}

function compared(small: Run[], large: Run): Row[] {
	const smallCost = of(small, (run) => run.cpuPerThousand.all)
	const growth = (large.cpuPerThousand.all / smallCost - 1) * 100
	const smallMb = Math.max(...small.map((run) => run.workerPeakMb))
	return [
		{
			what: `${many} recipients, from the answer to the first mail`,
			reached: `${large.firstMailSeconds.toFixed(2)} s`,
			target: '<= 1 s',
			floor: '',
			isMet: large.firstMailSeconds <= 1,
		},
		{
			what: `${many} recipients frozen, while mails leave`,
			reached: `${large.frozenSeconds.toFixed(1)} s`,
			target: `<= ${((8 * many) / 1_000_000).toFixed(1)} s`,
			floor: '',
			isMet: large.frozenSeconds <= (8 * many) / 1_000_000,
		},
		{
			what: `memory of the worker at its peak, ${few} and ${many} recipients`,
			reached: `${smallMb} MB and ${large.workerPeakMb} MB`,
			target: '<= 500 MB',
			floor: '',
			isMet: large.workerPeakMb <= 500,
		},
		{
			what: `CPU a mail at ${many} recipients against ${few}`,
			reached: `${growth.toFixed(0)} %`,
			target: '<= 15 % more',
			floor: '',
			isMet: growth <= 15,
		},
	]
}

/** The floor: a pooled client that composes and records nothing. */
async function bareMails(sink: SinkProcess, count: number) {
	const transport = nodemailer.createTransport({ url: sink.url, pool: true, maxConnections: 20 })
	const html = content.body.repeat(3)
	let sent = 0
	const startedAt = performance.now()
	await lanes(
		20,
		() => sent < count,
		() => {
			const to = `bare-${sent++}@example.org`
			const head = `From: ${content.from}\r\nTo: ${to}\r\nSubject: bare\r\nContent-Type: text/html\r\n\r\n`
			return transport.sendMail({ envelope: { from: content.from, to }, raw: head + html })
		},
	)
	transport.close()
	return (count / (performance.now() - startedAt)) * 1000
}
