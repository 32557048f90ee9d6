import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import {
	foldUsage,
	type Judgement,
	markJudged,
	projectsToJudge,
	tellOfUsage,
} from '../../db/billing/usage-judging.ts'
import {
	exceeds,
	type Limit,
	percentageOf,
	warningPercent,
} from '../../db/billing/usage-standing.ts'
import { pauseCampaignsOf, resumeCampaignsOf } from '../../db/campaigns/campaign-actions.ts'
import { mailTypes } from '../../db/templates/template.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { renderPlatformMail } from '../rendering/platform/mail.ts'

interface WatchServices {
	pool: Pool
	relay: { wake(): void }
	log: { warn(fields: object, message: string): void }
	settings: { platformFrom: string }
}

/** What a campaign sends in between goes beyond the limit. */
const restMs = 250
const projectsAtOnce = 500
const reason = 'BILLING_LIMIT'

/**
 * Looks at what projects have used: warns their members near a limit, and lets campaigns wait at one
 * until it is raised or the month is over. Any number of processes may look: each thing happens once.
 */
export async function judgeUsage({ pool, relay, settings }: Omit<WatchServices, 'log'>) {
	await foldUsage(pool, [])
	const judgements = await projectsToJudge(pool, [projectsAtOnce])
	for (const judgement of judgements) {
		const hasActed = [await moveCampaigns(judgement), await tellMembers(judgement)]
		if (hasActed.includes(true)) relay.wake()
	}
	const seen = judgements.flatMap((one) => one.seen)
	if (seen.length > 0) await markJudged(pool, [JSON.stringify(seen)])

	async function moveCampaigns({ project_id, limits, has_running, has_held }: Judgement) {
		const isBlocked = limits.some(
			(limit) => ['campaigns', 'total'].includes(limit.category) && exceeds(limit, 1),
		)
		if (isBlocked && has_running)
			await pauseCampaignsOf(pool, [project_id, taskQueues.core, reason, [...mailTypes]])
		else if (!isBlocked && has_held)
			await resumeCampaignsOf(pool, [project_id, taskQueues.core, reason])
		else return false
		return true
	}

	async function tellMembers({ project_id, limits }: Judgement) {
		let hasTold = false
		for (const limit of limits) {
			const level = levelOf(limit)
			if (level === null) continue
			const { category } = limit
			hasTold =
				(await tellOfUsage(
					pool,
					{ projectId: project_id, category, level },
					async ({ project, language, members }) => {
						const { usage: used, limit: allowed } = limit
						const about = { project, category, used, limit: allowed, isReached: level === 100 }
						const mail = await renderPlatformMail('usageLimit', language, about)
						return members.map((to) => ({ from: settings.platformFrom, to, ...mail }))
					},
				)) || hasTold
		}
		return hasTold
	}
}

function levelOf(limit: Limit) {
	const percentage = percentageOf(limit)
	return percentage >= 100 ? 100 : percentage >= warningPercent ? warningPercent : null
}

/** Looks until stopped; the database may be away in between. */
export function watchUsage({ log, ...services }: WatchServices) {
	const stopped = new AbortController()
	const { signal } = stopped
	const watching = (async () => {
		while (!signal.aborted) {
			await judgeUsage(services).catch((error: unknown) => {
				log.warn({ err: error }, 'what projects have used could not be looked at, and waits')
			})
			await sleep(restMs, undefined, { signal }).catch(() => {})
		}
	})()
	return async () => {
		stopped.abort()
		await watching
	}
}
