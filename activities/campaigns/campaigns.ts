import type { Pool } from 'pg'
import {
	cancelCampaignsOf,
	type CampaignKey,
	pause,
	startDue,
} from '../../db/campaigns/campaign-actions.ts'
import { freezeAudience } from '../../db/campaigns/campaign-audience.ts'
import {
	cancelChunk,
	close,
	courseOf,
	doubtCancelled,
	doubtDeleted,
	dropDeleted,
	finishMaterialising,
	finishSending,
	materialiseChunk,
} from '../../db/campaigns/campaign-course.ts'
import { transaction } from '../../db/transaction.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { beating } from '../beating.ts'
import { permanently } from '../permanence.ts'

/** What a campaign's run is to do next. */
export type Next = { total: number; settled: number; said: string } & (
	| { act: 'end' }
	| { act: 'materialise' }
	| { act: 'cancel' }
	| { act: 'send'; lanes: number }
	/** null: until somebody says that something has changed. */
	| { act: 'wait'; waitMs: number | null }
)

/** Campaigns that set their recipients down take turns. */
const longestTurnMs = 30_000
/** A timer of years is set anew now and then. */
const longestWaitMs = 30 * 24 * 3_600_000
const nobody = '00000000-0000-0000-0000-000000000000'

export function campaignActivities({ pool }: { pool: Pool }) {
	return {
		/** Moves the campaign as far as its row allows at once, and says what is next. */
		advanceCampaign: (key: CampaignKey): Promise<Next> => advance(pool, key),

		/** Gives recipients their rows, chunk by chunk; each chunk notes how far it has come. */
		async materialiseCampaign({ projectId, campaignId }: CampaignKey): Promise<void> {
			const endsAt = Date.now() + longestTurnMs
			await beating(() =>
				permanently(async () => {
					while (await materialiseChunk(pool, projectId, campaignId))
						if (Date.now() > endsAt) return
					await finishMaterialising(pool, [projectId, campaignId])
				}),
			)
		},

		/** Recipients cannot be set down, whoever tries: the owner sees it, and may try again. */
		async holdCampaign({ projectId, campaignId }: CampaignKey): Promise<void> {
			await pause(pool, [projectId, campaignId, taskQueues.core, 'FAULT'])
		},

		/** Settles the unsent mails of a cancelled campaign. */
		async cancelRecipients({ projectId, campaignId }: CampaignKey): Promise<void> {
			await beating(async () => {
				await dropDeleted(pool, [projectId, campaignId])
				for (let last: string | null = nobody; last !== null;)
					last = (await cancelChunk(pool, [projectId, campaignId, last]))[0]!.last
			})
		},
	}
}

const start = (pool: Pool, key: CampaignKey) =>
	transaction(pool, async (db) => {
		const [started] = await startDue(db, [key.projectId, key.campaignId])
		if (started) await freezeAudience(db, key)
	})

async function advance(pool: Pool, key: CampaignKey): Promise<Next> {
	const values = [key.projectId, key.campaignId]
	for (;;) {
		const [course] = await courseOf(pool, values)
		if (!course) return { act: 'end', total: 0, settled: 0, said: 'There is no such campaign' }
		const { status, total, pending, sending } = course
		const settled = total - pending - sending
		const next = { total, settled }
		const isActive = status === 'SCHEDULED' || status === 'SENDING'
		if (course.closed || status === 'DRAFT')
			return { ...next, act: 'end', said: status.toLowerCase() }
		if (isActive && course.disabled) await cancelCampaignsOf(pool, [key.projectId, taskQueues.core])
		else if (status === 'SCHEDULED') {
			const waitMs = Math.min(course.due_in_ms, longestWaitMs)
			if (waitMs > 0) return { ...next, act: 'wait', waitMs, said: 'scheduled' }
			await start(pool, key)
		} else if (status === 'SENDING') {
			if (course.paused)
				return {
					...next,
					act: 'wait',
					waitMs: null,
					said: pausedBy[course.paused_reason!],
				}
			if (!course.materialised)
				return { ...next, act: 'materialise', said: 'recipients are being set down' }
			if (pending + sending > 0) {
				await dropDeleted(pool, values)
				await doubtDeleted(pool, values)
				return { ...next, act: 'send', lanes: course.lanes, said: 'sending' }
			}
			await finishSending(pool, key)
		} else if (status === 'CANCELLED' && pending > 0)
			return { ...next, act: 'cancel', said: 'what was not sent is being cancelled' }
		else if (status === 'CANCELLED' && sending > 0) {
			await doubtCancelled(pool, values)
			return { ...next, act: 'wait', waitMs: 5000, said: 'the last mails are on their way' }
		} else await close(pool, values)
	}
}

const pausedBy = {
	OWNER: 'paused by its owner',
	BILLING_LIMIT: 'paused by a billing limit',
	FAULT: 'paused, for its recipients could not be set down',
	TEMPLATE: 'paused, because its template takes too long',
}
