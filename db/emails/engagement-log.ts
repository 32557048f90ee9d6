import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { statement } from '../statement.ts'
import type { engagementKinds, fetchers } from './engagement.ts'

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
/** Whoever opened or clicked waits no longer than this for the database, and not while it is away. */
const patienceMs = 250
const longestPauseMs = 5000
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
	let written = Promise.withResolvers<void>()
	let writing: Promise<void> | null = null
	let isAway = false
	let lost = 0
	const closing = new AbortController()

	function note(engagement: Noted): Promise<unknown> {
		if (held.length >= heldMost) {
			lost++
			return Promise.resolve()
		}
		held.push(engagement)
		start()
		return Promise.race([
			written.promise,
			sleep(isAway ? 0 : patienceMs, undefined, { ref: false }),
		])
	}

	function start() {
		writing ??= write().finally(() => {
			writing = null
			// Somebody may have come between the last look and this.
			if (held.length > 0 && !closing.signal.aborted) start()
		})
	}

	async function write() {
		for (let pauseMs = 100; held.length > 0;) {
			await sleep(groupingMs)
			const batch = held
			const { resolve } = written
			held = []
			written = Promise.withResolvers()
			try {
				await append(pool, [JSON.stringify(batch)])
				resolve()
				pauseMs = 100
				isAway = false
				if (lost > 0) log.warn({ lost }, 'opens or clicks are lost: the database was away for long')
				lost = 0
			} catch (error) {
				held = [...batch, ...held]
				isAway = true
				log.warn({ err: error, held: held.length }, 'opens and clicks cannot be written yet')
				if (closing.signal.aborted) return
				await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {})
				pauseMs = Math.min(pauseMs * 2, longestPauseMs)
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
