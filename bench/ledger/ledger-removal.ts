import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { dropPartitions } from '../../db/partitions.ts'
import { poolOf } from '../../db/statement.ts'
import { client, lanes } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'
import { bareDeletion, bareDrop } from './ledger-floors.ts'
import { months, startOf } from './ledger-seed.ts'

const connections = 8
const everyMs = 10
const mostMoreMs = 100
const mostTries = 20
/** The quiet time before the removal. It continues afterwards if the removal takes longer. */
const quietMs = (mails: number) => 10_000 + mails / 1000
const warmUpMs = 3000

const kinds = ['POST /v1/send', 'insert of a contact', 'GET /emails'] as const
interface Wait {
	kind: (typeof kinds)[number]
	from: number
	to: number
}

/** The oldest month, which is the largest, is removed while others write and read. */
export async function removal(
	stack: Stack,
	{ inBigMonth, bytesPerMail }: { inBigMonth: number; bytesPerMail: number },
): Promise<Row[]> {
	const waits: Wait[] = []
	const begun = performance.now() + warmUpMs
	let isOver = false
	const load = work(stack, waits, () => !isOver)
	const loadFor = (ms: number) => Promise.race([load, sleep(ms)])
	let removed: Awaited<ReturnType<typeof removeBigMonth>>
	try {
		await loadFor(warmUpMs + quietMs(inBigMonth))
		removed = await removeBigMonth(stack)
		await loadFor(Math.max(0, removed.to - removed.from - (removed.from - begun)))
	} finally {
		isOver = true
	}
	await load

	const { from, to, drops, blocked } = removed
	const during = waits.filter((one) => one.from < to && one.to > from)
	const quiet = waits.filter(
		(one) => one.from >= to || (one.to <= from && one.from >= Math.max(begun, from - (to - from))),
	)
	const longest = (some: Wait[], kind: Wait['kind']) =>
		Math.max(0, ...some.filter((one) => one.kind === kind).map((one) => one.to - one.from))
	const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
	const size = `${inBigMonth} mails of ${bytesPerMail.toFixed(0)} bytes`
	const dropMs = Math.max(...drops)
	return [
		{
			what: `drop of the table of a month with ${size}`,
			reached: `${seconds(dropMs)}${blocked > 0 ? `, at the ${blocked + 1}. try, as others used tables` : ''}`,
			target: '<= 1 s',
			floor: `${seconds(await bareDeletion(stack, inBigMonth * bytesPerMail))} (files of this size), ${seconds(await bareDrop(stack))} (an empty table)`,
			isMet: dropMs <= 1000,
		},
		{
			what: 'the whole removal of that month, with the look for unsettled mails',
			reached: seconds(to - from),
			target: '',
			floor: '',
			isMet: true,
		},
		...kinds.map((kind) => {
			const [reached, floor] = [longest(during, kind), longest(quiet, kind)]
			const asked = during.filter((one) => one.kind === kind).length
			return {
				what: `longest wait meanwhile: ${kind}, ${asked} times`,
				reached: `${reached.toFixed(0)} ms`,
				target: `<= ${mostMoreMs} ms longer`,
				floor: `${floor.toFixed(0)} ms as long without`,
				isMet: asked > 0 && reached <= floor + mostMoreMs,
			}
		}),
	]
}

/** Writers and a reader, until there is no more time. */
async function work(stack: Stack, waits: Wait[], more: () => boolean) {
	const http = client(stack.apiUrl, stack.secretKey, connections)
	const reader = client(stack.apiUrl, stack.secretKey, 1)
	const pool = await poolOf(stack.orm.em)
	const timed = async (kind: Wait['kind'], ask: () => Promise<unknown>) => {
		const from = performance.now()
		await ask()
		waits.push({ kind, from, to: performance.now() })
	}
	const ok = async (answer: ReturnType<typeof http.get>) => {
		const { status, body } = await answer
		if (status !== 200) throw new Error(`${status} ${body}`)
	}
	let sends = 0
	try {
		await Promise.all([
			lanes(connections, more, () =>
				timed(kinds[0], () =>
					ok(
						http.post('/v1/send', {
							to: `recipient-${1 + (sends++ % 1000)}@example.org`,
							from: 'app@example.com',
							subject: 'Your code',
							body: '<p>1234</p>',
						}),
					),
				),
			),
			lanes(1, more, async () => {
				await timed(kinds[1], () =>
					pool.query({
						name: 'insert-contact-beside-removal',
						text: `insert into contacts (project_id, email, subscribed)
							values ($1, uuidv7() || '@example.org', true)`,
						values: [stack.projectId],
					}),
				)
				await sleep(everyMs)
			}),
			lanes(1, more, async () => {
				await timed(kinds[2], () => ok(reader.get('/emails')))
				await sleep(everyMs)
			}),
		])
	} finally {
		http.close()
		reader.close()
	}
}

/** As housekeeping does it, again if it had to give way. Notes how long the drop of each table took. */
async function removeBigMonth({ orm, databaseUrl }: Stack) {
	const { rows } = await (
		await poolOf(orm.em)
	).query<{ days: number }>(
		`select floor(extract(epoch from now() - ${startOf(months - 1)}) / 86400)::int as days`,
	)
	const drops: number[] = []
	class TimedClient extends pg.Client {
		override query(...given: unknown[]): any {
			const from = performance.now()
			const result = (super.query as (...all: unknown[]) => any).apply(this, given)
			if (typeof given[0] === 'string' && given[0].includes('drop table'))
				result.then(
					() => drops.push(performance.now() - from),
					() => {},
				)
			return result
		}
	}
	const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, Client: TimedClient })
	const from = performance.now()
	let blocked = 0
	try {
		for (let removed = 0; removed === 0;)
			try {
				removed = await dropPartitions(pool, rows[0]!.days)
				if (removed === 0) throw new Error('No month is old enough to be removed')
			} catch (error) {
				const isBusy = (error as { code?: string }).code === '55P03'
				if (!isBusy || ++blocked === mostTries) throw error
			}
		return { from, to: performance.now(), drops, blocked }
	} finally {
		await pool.end()
	}
}
