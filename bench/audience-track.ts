import { performance } from 'node:perf_hooks'
import { poolOf } from '../db/statement.ts'
import { client, lanes, median, percentile } from './load.ts'
import type { Stack } from './stack.ts'
import type { Row } from './table.ts'

const connections = 32
const rounds = 3
const roundMs = 5000
const contacts = 20_000
const leastPerSecond = 500
const mostMs = 150

/** POST /v1/track with one API process: three in four requests are about contacts that are there. */
export async function track(stack: Stack): Promise<Row[]> {
	const http = client(stack.apiUrl, stack.publicKey, connections)
	let tracked = 0
	const call = () =>
		http.post('/v1/track', {
			email: `track-${tracked++ % 4 === 0 ? `new-${tracked}` : tracked % contacts}@example.org`,
			event: `event ${tracked % 20}`,
			data: { plan: tracked % 3 === 0 ? 'pro' : 'free', total: { value: 5, persistent: false } },
		})
	try {
		await lanes(connections, () => tracked < 3000, call)
		const rates: number[] = []
		const p99s: number[] = []
		let failures = 0
		for (let round = 0; round < rounds; round++) {
			const answers: { status: number; ms: number }[] = []
			const startedAt = performance.now()
			await lanes(
				connections,
				() => performance.now() < startedAt + roundMs,
				async () => answers.push(await call()),
			)
			rates.push((answers.length / (performance.now() - startedAt)) * 1000)
			p99s.push(
				percentile(
					answers.map(({ ms }) => ms),
					0.99,
				),
			)
			failures += answers.filter(({ status }) => status !== 200).length
		}
		const floor = await bareInserts(stack)
		return [
			{
				what: `events tracked a second, ${connections} connections`,
				reached: `${median(rates).toFixed(0)}/s, ${failures} failed`,
				target: `>= ${leastPerSecond}/s`,
				floor: `${floor.toFixed(0)}/s (bare INSERT)`,
				isMet: median(rates) >= leastPerSecond && failures === 0,
			},
			{
				what: 'their answers, p99',
				reached: `${median(p99s).toFixed(0)} ms`,
				target: `<= ${mostMs} ms`,
				floor: '',
				isMet: median(p99s) <= mostMs,
			},
		]
	} finally {
		http.close()
	}
}

/** The same number of bare rows on as many lanes, from this process, without any of our triggers. */
async function bareInserts({ orm, projectId }: Stack) {
	const pool = await poolOf(orm.em)
	await pool.query('create table if not exists bare_events (like events including all)')
	let inserted = 0
	const startedAt = performance.now()
	await lanes(
		connections,
		() => performance.now() < startedAt + 3000,
		async () => {
			await pool.query({
				name: 'bare-event',
				text: 'insert into bare_events (project_id, name, data) values ($1, $2, $3)',
				values: [projectId, `event ${inserted++ % 20}`, '{"plan":"pro","total":5}'],
			})
		},
	)
	return (inserted / (performance.now() - startedAt)) * 1000
}
