import type { Pool } from 'pg'
import { cancelCampaignsOf } from '../db/campaigns/campaign-actions.ts'
import {
	cancelQueued,
	stillDisabled,
	type SuspensionKey,
	tell,
	type Told,
	toBeTold,
} from '../db/reputation/suspending.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { beating } from './beating.ts'
import { renderPlatformMail } from './rendering/platform/mail.ts'
import type { SuspensionReason } from './rendering/platform/words.ts'

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
				const [project] = await stillDisabled(pool, [projectId])
				if (!project) return 0
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
				const mails = told.signal === null ? [] : await mailsAbout(told, told.signal)
				await tell(pool, key, mails)
				relay.wake()
			})
		},
	}

	async function mailsAbout({ project, language, members }: Told, reason: SuspensionReason) {
		const mail = await renderPlatformMail('suspension', language, { project, reason })
		return members.map((to) => ({ from: settings.platformFrom, to, ...mail }))
	}
}
