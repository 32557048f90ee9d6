import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { engagementKinds, fetchers } from './engagement.ts'
import { statement } from './statement.ts'

export interface Noted {
	projectId: string
	emailId: string
	campaignId: string | null
	kind: (typeof engagementKinds)[number]
	link: string | null
	fetcher: (typeof fetchers)[number]
	at: Date
}

/** What comes within this time is written by one statement. */
const groupingMs = 20
/** Whoever opened or clicked waits no longer than this for the database. */
const patienceMs = 250
const batchRows = 1000
/** What a process keeps in memory while the database is away. */
const heldMost = 50_000
const closingMs = 5000

/** $1 [Noted]. Of a project that is gone or going nothing is counted any more. */
const append = statement(
	'append-engagements',
	`insert into engagements (project_id, email_id, campaign_id, kind, link, fetcher, at)
	select g."projectId", g."emailId", g."campaignId", g.kind, g.link, g.fetcher, g.at
	from jsonb_to_recordset($1::jsonb) as g("projectId" uuid, "emailId" uuid, "campaignId" uuid,
		kind text, link text, fetcher text, at timestamptz)
	join projects p on p.id = g."projectId" and p.deleted_at is null`,
)

interface LogServices {
	pool: Pool
	log: { warn(fields: object, message: string): void }
}

/**
 * Where opens and clicks go first. They are written soon, many at a time, and by the time that `note`
 * resolves they are, unless the database takes long: then it resolves all the same, and they are written
 * when it is back. Only a process that ends without it, or keeps too many, loses any.
 */
export function createEngagementLog({ pool, log }: LogServices) {
	let held: Noted[] = []
	let lost = 0
	let writing: Promise<void> | null = null
	const closing = new AbortController()

	function note(engagement: Noted): Promise<unknown> {
		if (held.length >= heldMost) {
			lost++
			return Promise.resolve()
		}
		held.push(engagement)
		return Promise.race([start(), sleep(patienceMs, undefined, { ref: false })])
	}

	function start(): Promise<void> {
		writing ??= write().finally(() => {
			writing = null
			// Somebody may have come between the last look and this.
			if (held.length > 0 && !closing.signal.aborted) void start()
		})
		return writing
	}

	async function write() {
		await sleep(groupingMs)
		for (let pauseMs = 100; held.length > 0;) {
			const batch = held.slice(0, batchRows)
			try {
				await append(pool, [JSON.stringify(batch)])
				held = held.slice(batch.length)
				pauseMs = 100
				if (lost > 0)
					log.warn({ lost }, 'the database was away for too long: opens or clicks are lost')
				lost = 0
			} catch (error) {
				log.warn(
					{ err: error, held: held.length },
					'opens and clicks could not be written, and wait',
				)
				if (closing.signal.aborted) return
				await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
				pauseMs = Math.min(pauseMs * 2, 5000)
			}
		}
	}

	return {
		note,
		/** One more try for what is held; the pool must still be open. */
		async close() {
			closing.abort()
			await Promise.race([writing, sleep(closingMs, undefined, { ref: false })])
		},
	}
}

export type EngagementLog = ReturnType<typeof createEngagementLog>
