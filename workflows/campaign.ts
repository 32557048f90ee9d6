import {
	ActivityFailure,
	condition,
	continueAsNew,
	defineSignal,
	isCancellation,
	patched,
	proxyActivities,
	setCurrentDetails,
	setHandler,
	workflowInfo,
} from '@temporalio/workflow'
import type { Next } from '../activities/campaigns/campaigns.ts'
import type { Activities } from '../activities/index.ts'
import { untiring } from './retry.ts'
import { emailQueueOf, taskQueues } from './task-queues.ts'

/** The campaign's row has changed: it was rescheduled, cancelled, paused or resumed. */
const changed = defineSignal('changed')

const patient = { heartbeatTimeout: '6 seconds', retry: untiring } as const

const { advanceCampaign, holdCampaign } = proxyActivities<Activities>({
	taskQueue: taskQueues.core,
	startToCloseTimeout: '1 minute',
	retry: untiring,
})
const { materialiseCampaign, cancelRecipients } = proxyActivities<Activities>({
	...patient,
	taskQueue: taskQueues.bulk,
	startToCloseTimeout: '10 minutes',
})
const lane = { heartbeatTimeout: '6 seconds', startToCloseTimeout: '10 minutes' } as const
const anyWorker = proxyActivities<Activities>({
	...lane,
	taskQueue: taskQueues.email,
	retry: untiring,
})
const oneWorker = (worker: string) =>
	proxyActivities<Activities>({
		...lane,
		taskQueue: emailQueueOf(worker),
		// It may have ended.
		scheduleToStartTimeout: '3 seconds',
		retry: { maximumAttempts: 1 },
	})

const stuckMs = 2000

/** Runs that began earlier have no list of workers. */
type Sending = Pick<Next, 'settled' | 'total'> & { lanes: number; workers?: string[] }

interface Key {
	projectId: string
	campaignId: string
}

/**
 * Runs one campaign from its schedule to its last recipient. The database decides the next act, and is
 * asked again after every change. So a run may start at any point, and another run may take over.
 */
export async function campaign(key: Key): Promise<string> {
	let changes = 0
	setHandler(changed, () => {
		changes += 1
	})
	while (!workflowInfo().continueAsNewSuggested) {
		const seen = changes
		const next = await advanceCampaign(key)
		const { total, settled, said } = next
		showProgress(settled, total, said)
		if (next.act === 'end') return `${said}: ${settled} of ${total} settled`
		if (next.act === 'materialise') await freezeAndSend(next, seen)
		else if (next.act === 'cancel') await cancelRecipients(key)
		else if (next.act === 'send') {
			// Another worker holds the remaining mails, or the campaign was paused and the signal has not arrived
			// yet.
			if (!(await sendThrough(next, seen))) await changeWithin(stuckMs, seen)
		} else await changeWithin(next.waitMs, seen)
	}
	return continueAsNew<typeof campaign>(key)

	/** Waits for a change, for at most `waitMs`. */
	async function changeWithin(waitMs: number | null, seen: number) {
		if (waitMs === null) await condition(() => changes !== seen)
		else await condition(() => changes !== seen, waitMs)
	}

	/** Sends to those in the audience who are frozen already, while the others are being frozen. */
	async function freezeAndSend(next: Sending, seen: number) {
		if (!patched('lanes-beside-freezing')) await materialise(key)
		else await Promise.all([freeze(), sendThrough(next, seen)])

		async function freeze() {
			while ((await materialise(key)) === false && changes === seen);
		}
	}

	/**
	 * Runs the lanes side by side, each until it is done, can't continue, or the campaign changes. Returns
	 * whether any mail was settled. The lanes that are left are dealt out to the workers for each turn.
	 */
	async function sendThrough(
		{ lanes, workers = [], settled: before, total }: Sending,
		seen: number,
	) {
		let settled = before
		let alive = workers
		const running = new Set(Array.from({ length: lanes }, (_, lane) => lane))
		await Promise.all(
			Array.from(running, (lane) => runLane(lane).finally(() => running.delete(lane))),
		)
		return settled > before

		async function runLane(lane: number) {
			while (changes === seen && !workflowInfo().continueAsNewSuggested) {
				const worker = alive[[...running].indexOf(lane) % alive.length]
				const rest = await sendLane({ ...key, lane }, alive.length > 1 ? worker : undefined)
				settled += rest.settled
				alive = rest.workers ?? alive
				showProgress(settled, total, waiting(rest) ?? 'sending')
				if (rest.left === 0) return
				if (rest.waitMs > 0) await changeWithin(rest.waitMs, seen)
				else if (rest.settled === 0) return
			}
		}
	}
}

/** A turn of a lane. If this worker has ended, or fails, any worker does it. */
async function sendLane(lane: Key & { lane: number }, worker: string | undefined) {
	try {
		if (worker) return await oneWorker(worker).sendCampaignPages(lane)
	} catch (error) {
		if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error
	}
	return anyWorker.sendCampaignPages(lane)
}

/**
 * Temporal retries all other failures forever. Work that can never succeed waits for the campaign's owner.
 * Returns false if there is more to freeze.
 */
async function materialise(key: Key) {
	try {
		return await materialiseCampaign(key)
	} catch (error) {
		if (!(error instanceof ActivityFailure)) throw error
		await holdCampaign(key)
		return true
	}
}

function waiting({ left, waitMs, because }: { left: number; waitMs: number; because: string }) {
	if (waitMs <= 0) return because || null
	const until = new Date(Date.now() + waitMs).toISOString()
	return `${left} ${left === 1 ? 'mail waits' : 'mails wait'} until ${until}: ${because}`
}

function showProgress(settled: number, total: number, said: string) {
	setCurrentDetails(`**${inThousands(settled)}** of ${inThousands(total)} settled · ${said}`)
}

const inThousands = (count: number) => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
