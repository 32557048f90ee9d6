import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import {
	foldUsage,
	type Judgement,
	markJudged,
	projectsToJudge,
	notifyOfUsage,
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
import { renderPlatformMail } from '../../mail/platform/mail.ts'

interface WatchServices {
	pool: Pool
	relay: { wake(): void }
	log: { warn(fields: object, message: string): void }
	settings: { platformFrom: string }
}

/** Pause between two looks. A campaign may exceed its limit by what it sends in this time. */
const restMs = 250
const projectsAtOnce = 500
const reason = 'BILLING_LIMIT'

/**
 * Compares the usage of projects with their limits. Warns members near a limit, and pauses campaigns at a
 * limit until it is raised or the month ends. Several processes may do this at once: each action happens
 * once.
 */
export async function judgeUsage({ pool, relay, settings }: Omit<WatchServices, 'log'>) {
	await foldUsage(pool)
	const judgements = await projectsToJudge(pool, { limit: projectsAtOnce })
	for (const judgement of judgements) {
		const hasActed = [await moveCampaigns(judgement), await notifyMembers(judgement)]
		if (hasActed.includes(true)) relay.wake()
	}
	const seen = judgements.flatMap((one) => one.seen)
	if (seen.length > 0) await markJudged(pool, { judgements: seen })

	async function moveCampaigns({ project_id, limits, has_running, has_held }: Judgement) {
		const isBlocked = limits.some(
			(limit) => ['campaigns', 'total'].includes(limit.category) && exceeds(limit, 1),
		)
		if (isBlocked && has_running)
			await pauseCampaignsOf(pool, {
				projectId: project_id,
				taskQueue: taskQueues.core,
				reason,
				mailTypes: [...mailTypes],
			})
		else if (!isBlocked && has_held)
			await resumeCampaignsOf(pool, { projectId: project_id, taskQueue: taskQueues.core, reason })
		else return false
		return true
	}

	async function notifyMembers({ project_id, limits }: Judgement) {
		let hasNotified = false
		for (const limit of limits) {
			const level = levelOf(limit)
			if (level === null) continue
			const { category, limit: allowed, usage: used } = limit
			hasNotified =
				(await notifyOfUsage(
					pool,
					{ projectId: project_id, category, limit: allowed, level },
					async ({ project, language, members }) => {
						const about = { project, category, used, limit: allowed, isReached: level === 100 }
						const mail = await renderPlatformMail('usageLimit', language, about)
						return members.map((to) => ({ from: settings.platformFrom, to, ...mail }))
					},
				)) || hasNotified
		}
		return hasNotified
	}
}

function levelOf(limit: Limit) {
	const percentage = percentageOf(limit)
	return percentage >= 100 ? 100 : percentage >= warningPercent ? warningPercent : null
}

/** Runs until stopped, and survives outages of the database. */
export function watchUsage({ log, ...services }: WatchServices) {
	const stopped = new AbortController()
	const { signal } = stopped
	const watching = (async () => {
		while (!signal.aborted) {
			await judgeUsage(services).catch((error: unknown) => {
				log.warn({ err: error }, 'usage limits could not be checked and will be checked later')
			})
			await sleep(restMs, undefined, { signal }).catch(() => {})
		}
	})()
	return async () => {
		stopped.abort()
		await watching
	}
}
