import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CampaignKey, pause as pauseCampaign } from '../../db/campaigns/campaign-actions.ts'
import {
	type CampaignLane,
	campaignLane,
	claimSlice,
	type ClaimedMail,
	reserveRate,
	restOfLane,
	sendingInLane,
	takeBatchOver,
} from '../../db/campaigns/campaign-ledger.ts'
import { doubt } from '../../db/emails/doubt.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { beating } from '../beating.ts'
import type { DeliveryServices, Rest } from '../delivery/delivery.ts'
import { napMs } from '../delivery/moments.ts'
import { createRecorder, insistOnAll } from '../delivery/recorder.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import type { DkimKey } from '../rendering/dkim.ts'
import { type CampaignTexts, createCampaignContents } from './campaign-contents.ts'
import { handBatch, handOne, recordHanded, type Handed } from './campaign-flight.ts'
import { createLine, createLines } from './campaign-line.ts'
import { type CampaignPlaces, createCampaignPlaces } from './campaign-places.ts'

/** After this a lane gives its place to that of another campaign. */
const longestTurnMs = 20_000
/** Longer waits belong to the workflow: they must survive this process, and free its place. */
const longestInlineWaitMs = 5000
/** Batches of a lane that are under way at once: while one is claimed or recorded, another is handed over. */
const batchesAtOnce = 2
/** Answers that come within this time are recorded together. */
const gatherMs = 20
/** What a provider's batch may hold. */
const batchMails = 100
/** What it may weigh, each mail in HTML and as text: all of them lie in memory until the provider answers. */
const batchBytes = 4 * 2 ** 20
/** Send rate is reserved for so long ahead: beyond it, it is there for more urgent mail. */
const rateAheadSeconds = 0.1
/** Of a batch so much, for a provider counts its requests, too: all lanes wait for it in one line. */
const batchAheadSeconds = 1
/** A statement claims no more, however many places there are. */
const mostMails = 200

interface Lane extends CampaignKey {
	lane: number
}

/** What the lanes of a process share. */
interface Shared {
	/** How far it has come in each lane: only a hint, since each turn looks at the whole lane again. */
	positions: Map<string, string>
	inLine: ReturnType<typeof createLine>
	inTurn: ReturnType<typeof createLines>
	places: CampaignPlaces
}

export function campaignDeliveryActivities(services: DeliveryServices) {
	const contents = createCampaignContents(services.settings)
	const shared: Shared = {
		positions: new Map(),
		inLine: createLine(),
		inTurn: createLines(services.provider.concurrency),
		places: createCampaignPlaces(services.provider.concurrency),
	}

	return {
		/**
		 * Sends the mails of a lane for a while. What is paused, cancelled or not due stays as it is; the
		 * ledger says what was done, so a second run, or one beside a lost first, repeats nothing.
		 */
		sendCampaignPages: (lane: Lane): Promise<Rest> =>
			beating(async () => {
				const { projectId, campaignId } = lane
				const [campaign] = await campaignLane(services.pool, [projectId, campaignId, lane.lane])
				if (!campaign) return { settled: 0, left: 0, waitMs: 0, because: 'no such campaign' }
				const texts = contents.of(lane, campaign)
				const rest = await sendLane(services, lane, campaign, texts, shared)
				if (texts.isTooSlow()) {
					await pauseCampaign(services.pool, [projectId, campaignId, taskQueues.core, 'TEMPLATE'])
					contents.forget(lane)
				}
				return rest
			}),
	}
}

async function sendLane(
	services: DeliveryServices,
	{ projectId, campaignId, lane }: Lane,
	campaign: CampaignLane,
	texts: CampaignTexts,
	{ positions, inLine, inTurn, places }: Shared,
): Promise<Rest> {
	const { pool, provider, inHand, pause, settings, stopping } = services
	const endsAt = Date.now() + longestTurnMs
	const place = `${campaignId} ${lane}`
	const range = [projectId, campaignId, campaign.after, campaign.until]
	const rate = campaign.send_rate_per_second ?? settings.sendRatePerSecond
	const domain = campaign.from.slice(campaign.from.lastIndexOf('@') + 1)
	const fitting = Math.floor(batchBytes / (2 * Buffer.byteLength(campaign.body) + 1))
	const mailsInBatch = Math.min(batchMails, Math.max(1, fitting))
	const content = { projectId, campaign, texts }
	const write = (handed: Handed[]) => recordHanded(pool, content, handed)
	const recorder = createRecorder({ write, gatherMs, enough: places.slice })
	/** Mails or batches under way. */
	let flying = 0
	let landed = Promise.withResolvers<void>()
	let cursor = positions.get(place)
	/** Mails for which send rate is reserved, and which have not been claimed. */
	let paid = 0
	let settled = 0
	let failure: unknown

	let end: Omit<Rest, 'settled'>
	try {
		if (cursor === undefined) await adopt()
		end = await work()
	} finally {
		// Nobody walks away from a hand-over: its outcome would be lost.
		await allLanded()
	}
	if (failure) throw failure
	return { settled, ...end }

	async function work() {
		cursor ??= campaign.after
		while (!failure) {
			const waitMs = pause.remainingMs()
			if (waitMs > longestInlineWaitMs) return rest(1, waitMs, pause.reason() ?? 'paused')
			if (texts.isTooSlow()) return rest(1, 0, 'the template takes too long')
			if (stopping.aborted || Date.now() > endsAt) return rest(1, 0, 'sending')
			if (waitMs > 0) await sleep(Math.min(waitMs, napMs))
			else if (isFull()) await landed.promise
			else if (!(await sendSlice())) {
				await allLanded()
				const next = await lookAround()
				if (next) return next
			}
		}
		return rest(1, 0, 'failed')
	}

	function isFull() {
		if (pause.isProbing()) return flying > 0
		return provider.deliverBatch !== undefined && flying >= batchesAtOnce
	}

	async function allLanded() {
		while (flying > 0) await landed.promise
	}

	/** False when there was less than could have been sent: the end of the lane, or of its sending. */
	async function sendSlice() {
		const batchId = provider.deliverBatch ? randomUUID() : null
		let wanted = pause.isProbing() ? 1 : batchId ? mailsInBatch : mostMails
		if (rate > 0) {
			if (paid === 0) await reserve(wanted, batchId !== null)
			wanted = Math.min(wanted, paid)
		}
		if (!batchId) wanted = await places.enter(wanted)
		let claimed: ClaimedMail[] = []
		try {
			// The wait for rate or places may have been long.
			if (stopping.aborted || pause.remainingMs() > 0) return true
			if (pause.isProbing() && (wanted > 1 || isFull())) return true
			const dkim = (await services.dkimKeys(projectId, [domain])).get(domain)
			claimed = await claimSlice(pool, [
				projectId,
				campaignId,
				cursor,
				campaign.until,
				wanted,
				provider.name,
				campaign.tracked,
				batchId,
			])
			const mails = claimed.filter(({ status }) => status === 'SENDING')
			settled += claimed.length - mails.length
			paid -= Math.min(paid, mails.length)
			countEnds(claimed)
			if (claimed.length > 0) positions.set(place, (cursor = claimed.at(-1)!.contact_id))
			if (batchId) launchBatch(mails, batchId)
			else for (const mail of mails) launch(mail, dkim)
			return claimed.length === wanted
		} finally {
			const used = claimed.filter(({ status }) => status === 'SENDING').length
			if (!batchId) places.giveBack(wanted - used)
		}
	}

	async function reserve(wanted: number, isBatch: boolean) {
		const seconds = isBatch ? batchAheadSeconds : rateAheadSeconds
		const count = Math.min(wanted, Math.max(1, Math.floor(rate * seconds)))
		await (isBatch ? inLine(projectId, () => payFor(count)) : payFor(count))
		if (!stopping.aborted) paid += count
	}

	async function payFor(count: number) {
		if (stopping.aborted) return
		const [reserved] = await reserveRate(pool, [projectId, count, rate])
		await wait(reserved!.wait_ms)
	}

	function launch(mail: ClaimedMail, dkim: DkimKey | undefined) {
		void fly([mail], async () => {
			const handed = await handOne(services, { ...content, dkim }, mail, inTurn)
			await recorder.record(handed, flying === 1)
			return [handed]
		}).finally(places.recorded)
	}

	function launchBatch(mails: ClaimedMail[], batchId: string) {
		if (mails.length === 0) return
		void fly(mails, async () => {
			const handed = await handBatch(services, texts, mails, batchId)
			await insistOnAll(handed, write)
			countEnds(handed.map(({ end }) => end))
			return handed
		})
	}

	async function fly(mails: ClaimedMail[], handOver: () => Promise<Handed[]>) {
		flying += 1
		for (const { id } of mails) inHand.add(id)
		try {
			const handed = await handOver()
			settled += handed.filter(({ end }) => end.status !== 'PENDING').length
		} catch (error) {
			failure = error
		} finally {
			for (const { id } of mails) inHand.delete(id)
			flying -= 1
			landed.resolve()
			landed = Promise.withResolvers()
		}
	}

	/** At the end of the lane: whether something was left behind, and when it can go. */
	async function lookAround() {
		if (failure) return null
		const [left] = await restOfLane(pool, range)
		const { may_send, pending, sending, due_in_ms, answer } = left!
		const areOurs = sending > 0 && (await adopt())
		const open = pending + sending
		if (open === 0) {
			positions.delete(place)
			return rest(0, 0, '')
		}
		if (!may_send) return rest(open, 0, 'paused')
		cursor = campaign.after
		if (areOurs) await wait(napMs)
		if (sending > 0 || due_in_ms <= 0) return null
		if (due_in_ms > longestInlineWaitMs) return rest(open, due_in_ms, answer ?? 'not due yet')
		await wait(due_in_ms)
		return null
	}

	/**
	 * What another worker had in its hands when it went away: a batch is repeated under its key, of any
	 * other mail nobody knows what became of it. True: all that is open is in the hands of this process,
	 * in a turn that Temporal has given up, and will be recorded.
	 */
	async function adopt() {
		const open = await sendingInLane(pool, range)
		const orphans = open.filter(({ id }) => !inHand.has(id))
		if (open.length > 0 && orphans.length === 0) return true
		const batches = new Map<string, Date>()
		const doubtful: { id: string; attempt: number }[] = []
		for (const { id, attempt, batch_id, is_old, updated_at } of orphans)
			if (batch_id && provider.deliverBatch && !is_old) {
				const known = batches.get(batch_id)
				if (!known || known < updated_at) batches.set(batch_id, updated_at)
			} else doubtful.push({ id, attempt })
		for (const [batchId, writtenAt] of batches) {
			// The end of the lane, or another turn, comes back to them.
			if (pause.remainingMs() > 0 || stopping.aborted) break
			const mails = await takeBatchOver(pool, [projectId, campaignId, batchId, writtenAt])
			launchBatch(mails, batchId)
			await allLanded()
		}
		if (doubtful.length === 0) return false
		const rows = JSON.stringify(doubtful)
		const after = await doubt(pool, [projectId, rows, provider.idempotent])
		countEnds(after)
		settled += after.filter(({ status }) => status === 'UNCERTAIN').length
		return false
	}

	async function wait(ms: number) {
		const until = performance.now() + ms
		for (let left = ms; left > 0 && !stopping.aborted; left = until - performance.now())
			await sleep(Math.min(left, napMs))
	}

	function rest(left: number, waitMs: number, because: string) {
		// It goes into Temporal's history, where no address of anybody belongs.
		return { left, waitMs, because: because.replaceAll(/\S+@\S+/g, '<address>') }
	}
}
