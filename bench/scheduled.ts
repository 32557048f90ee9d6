import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Servers } from '../local/servers.ts'
import { client, lanes, percentile, until } from './load.ts'
import { startSink } from './sink.ts'
import { prepareStack, type Stack } from './stack.ts'
import type { Row } from './table.ts'

/** npm run bench scheduled [waiting mails]: the promise is for a million. */
const waiting = Number(process.argv[3] ?? 1_000_000)
const due = 4000
const duePerSecond = 200
const batchSize = 100

const mailTo = (to: string, at?: Date) => ({
	to,
	from: 'bench@example.com',
	subject: 'A measured mail',
	body: '<p>Hello</p>',
	...(at && { delivery: { at } }),
})

/** Mails that wait for their time: what they cost, and how late they leave, beside mail that is sent now. */
export async function bench(servers: Servers): Promise<Row[]> {
	const sink = await startSink()
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url })
	const http = client(stack.apiUrl, stack.secretKey, 8)
	const schedule = (name: string, from: number, timeOf: (index: number) => Date) =>
		http.post(
			'/v1/send/batch',
			Array.from({ length: batchSize }, (_, i) =>
				mailTo(`${name}-${from + i}@example.org`, timeOf(from + i)),
			),
		)
	try {
		await Promise.all([stack.api.start(), stack.worker.start()])
		await http.post('/v1/send', mailTo('warm@example.org'))
		const tomorrow = new Date(Date.now() + 86_400_000)
		let asked = 0
		const scheduleUpTo = async (total: number) => {
			await lanes(8, () => asked < total, scheduleBatch)
			await sleep(3000)
			return memory(stack)
		}
		const scheduleBatch = async () => {
			const from = asked
			asked += batchSize
			const { status, body } = await schedule('waits', from, () => tomorrow)
			if (status !== 200) throw new Error(body)
		}
		const half = await scheduleUpTo(waiting / 2)
		const full = await scheduleUpTo(waiting)

		const begins = Date.now() + 20_000
		const timeOf = (index: number) => new Date(begins + (index * 1000) / duePerSecond)
		for (let from = 0; from < due; from += batchSize) await schedule('due', from, timeOf)
		if (Date.now() > begins) throw new Error('the mails were not scheduled in time')
		await sleep(begins - Date.now())
		const endsAt = begins + (due * 1000) / duePerSecond
		for (let i = 0; Date.now() < endsAt; i++) {
			await http.post('/v1/send', mailTo(`now-${i}@example.org`))
			await sleep(100)
		}
		await until(async () => (await delays(stack, 'due')).length >= due, 60_000, 500)
		const late = await delays(stack, 'due')
		const now = await delays(stack, 'now')
		const shown = (values: number[], share: number) => `${percentile(values, share).toFixed(0)} ms`
		return [
			{
				what: `${due} mails due at ${duePerSecond}/s, ${waiting} others waiting: late, p50`,
				reached: shown(late, 0.5),
				target: '',
				floor: '',
				isMet: late.length === due,
			},
			{
				what: 'the same, p99',
				reached: `${shown(late, 0.99)}, earliest ${shown(late, 0)}`,
				target: '<= 1000 ms, never early',
				floor: '',
				isMet: percentile(late, 0.99) <= 1000 && percentile(late, 0) >= 0,
			},
			{
				what: `mail that is sent now meanwhile (${now.length}), request to sent, p99`,
				reached: shown(now, 0.99),
				target: '<= 400 ms',
				floor: '',
				isMet: percentile(now, 0.99) <= 400,
			},
			...(['api', 'worker'] as const).map((name) => ({
				what: `memory of ${name} with ${waiting} scheduled mails`,
				reached: `${full[name]} MB (${half[name]} MB with half of them)`,
				target: 'not growing',
				floor: '',
				isMet: full[name] <= half[name] * 1.15,
			})),
		]
	} finally {
		http.close()
		await stack.stop()
		await sink.close()
	}
}

/** How long after its time each mail was sent, in ms. */
async function delays({ orm }: Stack, name: string) {
	const rows = await orm.em.fork().execute<{ ms: number }[]>(
		`select (extract(epoch from sent_at - coalesce(scheduled_for, created_at)) * 1000)::float8 as ms
		from emails where "to" like ? and sent_at is not null`,
		[`${name}-%`],
	)
	return rows.map(({ ms }) => ms)
}

const memory = (stack: Stack) => ({
	api: residentMb(stack.api.pid()),
	worker: residentMb(stack.worker.pid()),
})

function residentMb(pid: number) {
	const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]
	return Math.round(Number(kb) / 1024)
}
