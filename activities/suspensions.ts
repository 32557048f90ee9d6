import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaign-actions.ts'
import { cancelQueued, type SuspensionKey, tell, toBeTold } from '../db/suspending.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { beating } from './beating.ts'
import { renderPlatformMail } from './rendering/platform/mail.ts'

interface SuspensionServices {
	pool: Pool
	relay: { wake(): void }
	settings: { platformFrom: string }
}

const rowsAtOnce = 500

/** Every one of these may run twice: what is cancelled is not waiting, who was told is not told again. */
export function suspensionActivities({ pool, relay, settings }: SuspensionServices) {
	return {
		async stopCampaigns({ projectId }: SuspensionKey) {
			return beating(async () => {
				const stopped = await cancelCampaignsOf(pool, [projectId, taskQueues.core])
				relay.wake()
				return stopped.length
			})
		},

		async cancelQueuedMail({ projectId }: SuspensionKey) {
			return beating(async () => {
				let total = 0
				for (let after: string | null = '0'; after !== null;) {
					const [chunk] = await cancelQueued(pool, [projectId, after, rowsAtOnce])
					total += chunk!.cancelled
					after = chunk!.last
				}
				return total
			})
		},

		async tellMembers(key: SuspensionKey) {
			return beating(async () => {
				const [told] = await toBeTold(pool, [key.projectId, key.suspensionId])
				if (!told) return
				const { project, language, signal, members } = told
				const mail = await renderPlatformMail('suspension', language, { project, reason: signal })
				const from = settings.platformFrom
				await tell(
					pool,
					key,
					members.map((to) => ({ from, to, ...mail })),
				)
				relay.wake()
			})
		},
	}
}
