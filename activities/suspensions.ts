import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaigns/campaign-actions.ts'
import {
	cancelQueued,
	stillDisabled,
	type SuspensionKey,
	notifyMembers,
	type SuspensionNotice,
	suspensionNotice,
} from '../db/reputation/suspending.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { withHeartbeat } from './heartbeat.ts'
import { renderPlatformMail } from '../mail/platform/mail.ts'
import type { SuspensionReason } from '../mail/platform/words.ts'

interface SuspensionServices {
	pool: Pool
	relay: { wake(): void }
	settings: { platformFrom: string }
}

const rowsAtOnce = 500

/**
 * Each of these may run twice: cancelled mails are no longer waiting, and members are notified only once.
 */
export function suspensionActivities({ pool, relay, settings }: SuspensionServices) {
	return {
		async stopCampaigns({ projectId }: SuspensionKey) {
			return withHeartbeat(async () => {
				const [project] = await stillDisabled(pool, { projectId })
				if (!project) return 0
				const stopped = await cancelCampaignsOf(pool, { projectId, taskQueue: taskQueues.core })
				relay.wake()
				return stopped.length
			})
		},

		async cancelQueuedMail({ projectId }: SuspensionKey) {
			return withHeartbeat(async () => {
				let total = 0
				for (let after: string | null = '0'; after !== null;) {
					const [chunk] = await cancelQueued(pool, { projectId, after, limit: rowsAtOnce })
					total += chunk!.cancelled
					after = chunk!.last
				}
				return total
			})
		},

		async tellMembers(key: SuspensionKey) {
			return withHeartbeat(async () => {
				const [notice] = await suspensionNotice(pool, {
					projectId: key.projectId,
					suspensionId: key.suspensionId,
				})
				if (!notice) return
				const mails = notice.signal === null ? [] : await mailsAbout(notice, notice.signal)
				await notifyMembers(pool, key, mails)
				relay.wake()
			})
		},
	}

	async function mailsAbout(
		{ project, language, members }: SuspensionNotice,
		reason: SuspensionReason,
	) {
		const mail = await renderPlatformMail('suspension', language, { project, reason })
		return members.map((to) => ({ from: settings.platformFrom, to, ...mail }))
	}
}
