import { poolOf } from '../../db/statement.ts'
import { client, lanes, rateOf, underLoad } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Row } from '../table.ts'

const connections = 32
const rounds = 3
const roundMs = 5000
const contacts = 20_000
const leastPerSecond = 500
const mostMs = 150

/** POST /v1/track with one API process: three in four requests are for existing contacts. */
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
		const { rate, p99, failures } = await underLoad({ connections, rounds, roundMs }, call)
		const floor = await bareInserts(stack)
		return [
			{
				what: `events tracked a second, ${connections} connections`,
				reached: `${rate.toFixed(0)}/s, ${failures} failed`,
				target: `>= ${leastPerSecond}/s`,
				floor: `${floor.toFixed(0)}/s (bare INSERT)`,
				isMet: rate >= leastPerSecond && failures === 0,
			},
			{
				what: 'their answers, p99',
				reached: `${p99.toFixed(0)} ms`,
				target: `<= ${mostMs} ms`,
				floor: '',
				isMet: p99 <= mostMs,
			},
		]
	} finally {
		http.close()
	}
}

/** The same number of bare rows on as many lanes, from this process, without our triggers. */
async function bareInserts({ orm, projectId }: Stack) {
	const pool = await poolOf(orm.em)
	await pool.query('create table if not exists bare_events (like events including all)')
	let inserted = 0
	return rateOf(connections, 3000, () =>
		pool.query({
			name: 'bare-event',
			text: 'insert into bare_events (project_id, name, data) values ($1, $2, $3)',
			values: [projectId, `event ${inserted++ % 20}`, '{"plan":"pro","total":5}'],
		}),
	)
}
