import { defineEntity, p } from '@mikro-orm/core'
import { setInterval as ticks } from 'node:timers/promises'
import type { Pool } from 'pg'
import { statement } from './statement.ts'

/** A worker process that lives: it says so every two seconds, and takes the row along when it ends. */
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
/** Whoever was heard of so lately lives. */
export const aliveSeconds = 8

/** $1 worker. Whoever has not been heard of for an hour is forgotten on the way. */
const beat = statement(
	'beat',
	`with gone as (delete from worker_beats where beat_at < now() - interval '1 hour' and id <> $1)
	insert into worker_beats (id) values ($1) on conflict (id) do update set beat_at = now()`,
)

/** $1 worker */
const leave = statement('leave', `delete from worker_beats where id = $1`)

/** Whether some worker was heard of within the last moments. */
export const anyWorker = statement<{ alive: boolean }>(
	'any-worker',
	`select exists (
		select from worker_beats where beat_at > now() - interval '${aliveSeconds} seconds') as alive`,
)

/** Beats until stopped; the database may be away in between. */
export async function startBeating(pool: Pool, id: string) {
	const stopped = new AbortController()
	await beat(pool, [id])
	const beating = (async () => {
		for await (const _ of ticks(beatMs, undefined, { signal: stopped.signal }))
			await beat(pool, [id]).catch(() => {})
	})().catch(() => {})
	return async () => {
		stopped.abort()
		await beating
		await leave(pool, [id]).catch(() => {})
	}
}
