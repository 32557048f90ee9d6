import type { Pool } from 'pg'
import {
	cancelCampaignsOf,
	type CampaignKey,
	pause,
	pauseUnproved,
	startDue,
} from '../../db/campaigns/campaign-actions.ts'
import {
	cancelPages,
	divideIntoLanes,
	finishFreezing,
	freezeChunk,
} from '../../db/campaigns/audience-pages.ts'
import { freezeAudience } from '../../db/campaigns/campaign-audience.ts'
import {
	cancelChunk,
	close,
	courseOf,
	doubtCancelled,
	doubtDeleted,
	dropDeleted,
	finishSending,
} from '../../db/campaigns/campaign-course.ts'
import { createPager } from '../../db/pager.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { permanently } from '../permanence.ts'

/** The next act of a campaign's run. */
export type Next = { total: number; settled: number; said: string } & (
	| { act: 'end' }
	/** The live workers share the lanes. */
	| { act: 'materialise'; lanes: number; workers: string[] }
	| { act: 'send'; lanes: number; workers: string[] }
	| { act: 'cancel' }
	/** null: waits until the campaign changes. */
	| { act: 'wait'; waitMs: number | null }
)

/** Campaigns take turns at freezing their audiences, and at cancelling what was frozen. */
const longestTurnMs = 15_000
/** Longer timers are split. */
const longestWaitMs = 30 * 24 * 3_600_000
const nobody = '00000000-0000-0000-0000-000000000000'

interface CampaignServices {
	pool: Pool
	/** The process is stopping: what is left is done by another worker. */
	stopping: AbortSignal
}

export function campaignActivities({ pool, stopping }: CampaignServices) {
	const turn = () => {
		const endsAt = Date.now() + longestTurnMs
		return { isOver: () => stopping.aborted || Date.now() > endsAt }
	}
	return {
		/** Moves the campaign as far as its row allows now, and returns the next act. */
		advanceCampaign: (key: CampaignKey): Promise<Next> => advance(pool, key),

		/**
		 * Freezes the audience, chunk by chunk. Each chunk records its progress. False: its turn is over before
		 * the audience is.
		 */
		async materialiseCampaign({ projectId, campaignId }: CampaignKey): Promise<boolean> {
			const { isOver } = turn()
			return withHeartbeat(() =>
				permanently(async () => {
					await divideIntoLanes(pool, { projectId, campaignId })
					const page = createPager()
					while (await page((contacts) => freezeChunk(pool, projectId, campaignId, contacts)))
						if (isOver()) return false
					await finishFreezing(pool, { projectId, campaignId })
					return true
				}),
			)
		},

		/** The audience can't be frozen. The campaign is paused, so its owner sees it and may retry. */
		async holdCampaign({ projectId, campaignId }: CampaignKey): Promise<void> {
			await pause(pool, { projectId, campaignId, taskQueue: taskQueues.core, reason: 'FAULT' })
		},

		/**
		 * Settles the unsent mails of a cancelled campaign. The run calls it again while there are any. Mails in the
		 * ledger are looked through from the first one each time, so only a stopping worker leaves this to another.
		 */
		async cancelRecipients({ projectId, campaignId }: CampaignKey): Promise<void> {
			const { isOver } = turn()
			await withHeartbeat(async () => {
				await dropDeleted(pool, { projectId, campaignId })
				while ((await cancelPages(pool, { projectId, campaignId }))[0]!.pages > 0)
					if (isOver()) return
				for (let last: string | null = nobody; last !== null && !stopping.aborted;)
					last = (await cancelChunk(pool, { projectId, campaignId, after: last }))[0]!.last
			})
		},
	}
}

const start = (pool: Pool, key: CampaignKey) =>
	transaction(pool, async (db) => {
		const { projectId, campaignId } = key
		const [started] = await startDue(db, { projectId, campaignId })
		if (started) await freezeAudience(db, key)
	})

async function advance(pool: Pool, key: CampaignKey): Promise<Next> {
	const values = { projectId: key.projectId, campaignId: key.campaignId }
	for (;;) {
		const [course] = await courseOf(pool, values)
		if (!course) return { act: 'end', total: 0, settled: 0, said: 'There is no such campaign' }
		const { status, total, pending, sending, to_come, lanes, workers } = course
		const settled = total - pending - sending - to_come
		const next = { total, settled }
		const isActive = status === 'SCHEDULED' || status === 'SENDING'
		if (course.closed || status === 'DRAFT')
			return { ...next, act: 'end', said: status.toLowerCase() }
		if (isActive && course.disabled)
			await cancelCampaignsOf(pool, { projectId: key.projectId, taskQueue: taskQueues.core })
		else if (status === 'SCHEDULED') {
			const waitMs = Math.min(course.due_in_ms, longestWaitMs)
			if (waitMs > 0) return { ...next, act: 'wait', waitMs, said: 'scheduled' }
			await start(pool, key)
		} else if (status === 'SENDING') {
			// Also if it was paused meanwhile: there is nothing left to wait for.
			if (course.materialised && pending + sending === 0 && !course.has_pages) {
				await finishSending(pool, key)
				continue
			}
			if (course.paused)
				return {
					...next,
					act: 'wait',
					waitMs: null,
					said: pausedBy[course.paused_reason!],
				}
			if (!course.proved) {
				await pauseUnproved(pool, { projectId: key.projectId, taskQueue: taskQueues.core })
				continue
			}
			if (!course.materialised && !course.divided) {
				await divideIntoLanes(pool, values)
				continue
			}
			if (!course.materialised)
				return { ...next, act: 'materialise', lanes, workers, said: 'the audience is being frozen' }
			await dropDeleted(pool, values)
			await doubtDeleted(pool, values)
			return { ...next, act: 'send', lanes, workers, said: 'sending' }
		} else if (status === 'CANCELLED' && (pending > 0 || course.has_pages))
			return { ...next, act: 'cancel', said: 'unsent mails are being cancelled' }
		else if (status === 'CANCELLED' && sending > 0) {
			if (course.is_old) await doubtCancelled(pool, values)
			return { ...next, act: 'wait', waitMs: 5000, said: 'the last mails are being sent' }
		} else await close(pool, values)
	}
}

const pausedBy = {
	OWNER: 'paused by a user',
	BILLING_LIMIT: 'paused by a billing limit',
	FAULT: 'paused because its audience could not be frozen',
	TEMPLATE: 'paused because its template takes too long',
	SENDER: 'paused because its sender’s domain is not verified',
}
