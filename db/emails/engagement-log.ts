import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { json } from '../sql-types.ts'
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

/** Opens and clicks that arrive within this time are written by one statement. */
const groupingMs = 20
/** The longest a reader waits for the database; no wait while it is unavailable. */
const usualPatienceMs = 250
const longestPauseMs = 5000
/** How many opens and clicks a process keeps in memory while the database is unavailable. */
const heldMost = 50_000
/** Of all their links together. */
const mostCharacters = 2 ** 24
/** More of them would stop the event loop while they are prepared. */
const writtenAtOnce = 500
const closingMs = 5000

/**
 * Nothing is counted for a project that is deleted or being deleted. Ids of a campaign's mails are not signed, so
 * those that anybody made up are left out here, and take no place.
 */
const append = statement('append-engagements', {
	params: { engagements: json<Noted[]>() },
	text: `insert into engagements (project_id, email_id, campaign_id, kind, link, fetcher, at)
	select g."projectId", g."emailId", g."campaignId", g.kind, g.link, g.fetcher, g.at
	from jsonb_to_recordset($engagements::jsonb) as g("projectId" uuid, "emailId" uuid,
		"campaignId" uuid,
		kind text, link text, fetcher text, at timestamptz)
	join projects p on p.id = g."projectId" and p.deleted_at is null
	where g."campaignId" is null or g."campaignId" = (
		select e.campaign_id from emails e where e.project_id = g."projectId" and e.id = g."emailId")`,
})

interface LogServices {
	pool: Pool
	log: { warn(fields: object, message: string): void }
	patienceMs?: number | undefined
}

/**
 * Opens and clicks are written here first, many at a time. `note` resolves once they are written. If the
 * database takes too long it resolves anyway, and they are written later. They are lost only if the
 * process ends before that, or holds too many.
 */
export function createEngagementLog({ pool, log, patienceMs = usualPatienceMs }: LogServices) {
	let held: Noted[] = []
	let characters = 0
	let written = Promise.withResolvers<void>()
	let writing: Promise<void> | null = null
	let isAway = false
	let lost = 0
	const closing = new AbortController()

	function note(engagement: Noted): Promise<unknown> {
		if (held.length >= heldMost || characters > mostCharacters) {
			lost++
			return Promise.resolve()
		}
		held.push(engagement)
		characters += engagement.link?.length ?? 0
		start()
		return Promise.race([
			written.promise,
			sleep(isAway ? 0 : patienceMs, undefined, { ref: false }),
		])
	}

	function start() {
		writing ??= write().finally(() => {
			writing = null
			// More may have arrived since the last look.
			if (held.length > 0 && !closing.signal.aborted) start()
		})
	}

	async function write() {
		for (let pauseMs = 100; held.length > 0;) {
			await sleep(groupingMs)
			const batch = held.splice(0, writtenAtOnce)
			const { resolve } = written
			const isAll = held.length === 0
			if (isAll) written = Promise.withResolvers()
			try {
				await append(pool, { engagements: batch })
				for (const { link } of batch) characters -= link?.length ?? 0
				if (isAll) resolve()
				pauseMs = 100
				isAway = false
				if (lost > 0) log.warn({ lost }, 'opens or clicks are lost: the database was away too long')
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
		/** Tries once more to write what is held; the pool must still be open. */
		async close() {
			closing.abort()
			await Promise.race([writing, sleep(closingMs, undefined, { ref: false })])
		},
	}
}
