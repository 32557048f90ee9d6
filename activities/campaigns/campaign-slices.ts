import { randomUUID } from 'node:crypto'
import {
	bearSlice,
	claimSlice,
	type ClaimedMail,
	reserveRate,
} from '../../db/campaigns/campaign-ledger.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import { handBatch, handOne } from './campaign-handover.ts'
import { nameOf, type Turn, wait } from './campaign-turn.ts'

/** A lane's batches under way at once: while one is being claimed or recorded, another is handed over. */
const batchesAtOnce = 2
/** The most mails that a provider accepts in one batch. */
const batchMails = 100
/**
 * The size limit of a batch. All its mails, in HTML and text, stay in memory until the provider answers.
 */
const batchBytes = 4 * 2 ** 20
/** How far ahead send rate is reserved. Rate further ahead stays free for more urgent mail. */
const rateAheadSeconds = 0.1
/**
 * The same for batches. It is longer because providers also limit requests, and all lanes wait in one
 * line.
 */
const batchAheadSeconds = 1
/** The most mails that one statement claims, however many slots are free. */
const mostMails = 200

export function isFull({ services: { pause, provider }, underWay }: Turn) {
	if (pause.isProbing()) return underWay.count() > 0
	return provider.deliverBatch !== undefined && underWay.count() >= batchesAtOnce
}

/**
 * Claims the next mails of the lane and starts to hand them over. Returns false at the end of the lane, or
 * when sending has ended: fewer mails were claimed than could be sent.
 */
export async function sendSlice(turn: Turn): Promise<boolean> {
	const { services, shared, campaign } = turn
	const { provider, pause } = services
	const { slots } = shared
	const batchId = provider.deliverBatch ? randomUUID() : null
	let wanted = pause.isProbing() ? 1 : batchId ? mailsInBatch(campaign.body) : mostMails
	wanted = await reserveUpTo(turn, wanted, batchId !== null)
	if (!batchId) wanted = await slots.enter(turn.lane.projectId, wanted)
	let mails: ClaimedMail[] = []
	try {
		// The wait for rate or slots may have been long.
		if (services.stopping.aborted || pause.remainingMs() > 0) return true
		if (pause.isProbing() && (wanted > 1 || isFull(turn))) return true
		const dkim = await keyOf(turn)
		const claimed = await claim(turn, wanted, batchId)
		mails = claimed.filter(({ status }) => status === 'SENDING')
		turn.settled += claimed.length - mails.length
		turn.paid -= Math.min(turn.paid, mails.length)
		if (batchId) launchBatch(turn, mails, batchId)
		else for (const mail of mails) launch(turn, mail, dkim)
		return turn.hasPages ? claimed.length > 0 : claimed.length === wanted
	} finally {
		if (!batchId) slots.giveBack(turn.lane.projectId, wanted - mails.length)
	}
}

function mailsInBatch(body: string) {
	const fitting = Math.floor(batchBytes / (2 * Buffer.byteLength(body) + 1))
	return Math.min(batchMails, Math.max(1, fitting))
}

async function keyOf({ services, lane, campaign }: Turn) {
	const domain = campaign.from.slice(campaign.from.lastIndexOf('@') + 1)
	return (await services.dkimKeys(lane.projectId, [domain])).get(domain)
}

/** The lane's next mails: those that are born now, and after them those that wait for another try. */
async function claim(turn: Turn, wanted: number, batchId: string | null) {
	const { services, lane, campaign, shared } = turn
	const asked = {
		projectId: lane.projectId,
		campaignId: lane.campaignId,
		until: campaign.until,
		limit: wanted,
		provider: services.provider.name,
		tracked: campaign.tracked,
		batchId,
	}
	if (turn.hasPages) {
		const born = await bearSlice(services.pool, { ...asked, after: campaign.after })
		countEnds(born)
		if (born.length > 0) shared.positions.set(nameOf(lane), turn.cursor)
		return born
	}
	const claimed = await claimSlice(services.pool, { ...asked, after: turn.cursor })
	countEnds(claimed)
	const last = claimed.at(-1)
	if (last) shared.positions.set(nameOf(lane), (turn.cursor = last.contact_id))
	return claimed
}

/** Waits for send rate. Returns the number of mails that it allows. */
async function reserveUpTo(turn: Turn, wanted: number, isBatch: boolean) {
	const { services, campaign, lane, shared } = turn
	const rate = campaign.send_rate_per_second ?? services.settings.sendRatePerSecond
	if (rate === 0) return wanted
	if (turn.paid === 0) {
		const seconds = isBatch ? batchAheadSeconds : rateAheadSeconds
		const count = Math.min(wanted, Math.max(1, Math.floor(rate * seconds)))
		const reserve = () => reserveFor(turn, count, rate)
		await (isBatch ? shared.inSequence(lane.projectId, reserve) : reserve())
		if (!services.stopping.aborted) turn.paid += count
	}
	return Math.min(wanted, turn.paid)
}

async function reserveFor({ services, lane }: Turn, count: number, rate: number) {
	const { pool, stopping } = services
	if (stopping.aborted) return
	const asked = { projectId: lane.projectId, count, perSecond: rate }
	const [reserved] = await reserveRate(pool, asked)
	await wait(reserved!.wait_ms, stopping)
}

function launch(turn: Turn, mail: ClaimedMail, dkim: DkimKey | undefined) {
	const { services, campaign, texts, shared, underWay, recorder } = turn
	const slice = { campaign, texts, dkim }
	void underWay
		.start([mail], async () => {
			const handed = await handOne(services, slice, mail, shared.limited)
			await recorder.record([handed], underWay.count() === 1)
			if (handed.end.status !== 'PENDING') turn.settled += 1
		})
		.finally(() => shared.slots.recorded(1))
}

export function launchBatch(turn: Turn, mails: ClaimedMail[], batchId: string) {
	const { services, underWay, recorder } = turn
	if (mails.length === 0) return
	void underWay.start(mails, async () => {
		const handed = await handBatch(services, turn, mails, batchId)
		await recorder.record(handed, underWay.count() === 1)
		turn.settled += handed.filter(({ end }) => end.status !== 'PENDING').length
	})
}
