import { defineEntity, p } from '@mikro-orm/core'
import { setInterval as ticks } from 'node:timers/promises'
import type { Pool } from 'pg'
import { bool, text, uuid } from './sql-types.ts'
import { statement } from './statement.ts'

/** A live worker process. It updates the row every two seconds, and deletes it when it ends. */
const schema = defineEntity({
	name: 'WorkerBeat',
	tableName: 'worker_beats',
	properties: {
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		beatAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class WorkerBeat extends schema.class {}
schema.setClass(WorkerBeat)

const beatMs = 2000
/** A worker with a heartbeat this recent is alive. */
export const aliveSeconds = 8

/** The ids of live workers. */
export const workersAlive = `array(
		select id::text from worker_beats where beat_at > now() - interval '${aliveSeconds} seconds' order by id)`

/** Returns those that were alive before it, which may include this one. */
const beat = statement('beat', {
	params: { workerId: uuid },
	row: { alive: text.array },
	text: `with gone as (delete from worker_beats where beat_at < now() - interval '1 hour'
		and id <> $workerId)
	insert into worker_beats (id) values ($workerId) on conflict (id) do update set beat_at = now()
	returning ${workersAlive} as alive`,
})

const leave = statement('leave', {
	params: { workerId: uuid },
	text: `delete from worker_beats where id = $workerId`,
})

/** Whether any worker is alive. */
export const anyWorker = statement('any-worker', {
	params: {},
	row: { alive: bool },
	text: `select exists (
		select from worker_beats where beat_at > now() - interval '${aliveSeconds} seconds') as alive`,
})

/** Sends heartbeats until stopped, and survives outages of the database. */
export async function startHeartbeat(pool: Pool, id: string) {
	const stopped = new AbortController()
	let alive = [id]
	async function beatOnce() {
		const [answer] = await beat(pool, { workerId: id })
		alive = [...new Set([id, ...answer!.alive])].toSorted()
	}
	await beatOnce()
	const beats = (async () => {
		for await (const _ of ticks(beatMs, undefined, { signal: stopped.signal }))
			await beatOnce().catch(() => {})
	})().catch(() => {})
	return {
		/**
		 * Whether this worker is the first to react to a message, of all live ones. Once they know of each other, they
		 * agree about each number.
		 */
		reactsFirst: (message: number) => alive[message % alive.length] === id,
		async stop() {
			stopped.abort()
			await beats
			await leave(pool, { workerId: id }).catch(() => {})
		},
	}
}
