import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
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
import { beating } from '../beating.ts'
import type { DeliveryServices, Rest } from '../delivery/delivery.ts'
import { napMs } from '../delivery/moments.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import { type CampaignMessages, compileCampaign } from '../rendering/campaign-message.ts'
import { fly } from './campaign-flight.ts'
import { createLine } from './campaign-line.ts'
import { createPace } from './campaign-pace.ts'

/** After this a lane gives its place to that of another campaign. */
const longestTurnMs = 20_000
/** Longer waits belong to the workflow: they must survive this process, and free its place. */
const longestInlineWaitMs = 5000
/** Slices of a lane that are under way at once: while one is claimed or recorded, another is handed over. */
const flightsAtOnce = 2
/** What a provider's batch may hold. */
const batchMails = 100
/** What it may weigh, each mail in HTML and as text: all of them lie in memory until the provider answers. */
const batchBytes = 4 * 2 ** 20
/** Send rate is reserved for so long ahead: beyond it, it is there for more urgent mail. */
const rateAheadSeconds = 0.1
/** Of a batch so much, for a provider counts its requests, too: all lanes wait for it in one line. */
const batchAheadSeconds = 1
const mostCompiled = 20

interface Lane extends CampaignKey {
	lane: number
}

export function campaignDeliveryActivities(services: DeliveryServices) {
	const compiled = new Map<string, CampaignMessages>()
	/** How far this process has come in each lane: only a hint, for whoever begins looks at all of it. */
	const positions = new Map<string, string>()
	const inLine = createLine()

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
				const messages = compiled.get(campaignId) ?? compile(services, lane, campaign)
				compiled.delete(campaignId)
				compiled.set(campaignId, messages)
				if (compiled.size > mostCompiled) compiled.delete(compiled.keys().next().value!)
				return sendLane(services, lane, campaign, messages, positions, inLine)
			}),
	}
}

function compile(
	{ settings }: DeliveryServices,
	{ projectId, campaignId }: CampaignKey,
	{ subject, body, type, content_language, language, tracked, ...campaign }: CampaignLane,
) {
	const from = { email: campaign.from, name: campaign.from_name }
	const trackingKey = tracked ? settings.trackingKey : null
	const said = { subject, body, type, contentLanguage: content_language, language }
	const content = { campaignId, projectId, from, trackingKey, ...said }
	return compileCampaign({ ...content, replyTo: campaign.reply_to }, settings.publicUrl)
}

async function sendLane(
	services: DeliveryServices,
	{ projectId, campaignId, lane }: Lane,
	campaign: CampaignLane,
	messages: CampaignMessages,
	positions: Map<string, string>,
	inLine: ReturnType<typeof createLine>,
): Promise<Rest> {
	const { pool, provider, inHand, pause, settings, stopping } = services
	const endsAt = Date.now() + longestTurnMs
	const place = `${campaignId} ${lane}`
	const range = [projectId, campaignId, campaign.after, campaign.until]
	const rate = campaign.send_rate_per_second ?? settings.sendRatePerSecond
	const domain = campaign.from.slice(campaign.from.lastIndexOf('@') + 1)
	const pace = createPace()
	const fitting = Math.floor(batchBytes / (2 * Buffer.byteLength(campaign.body) + 1))
	const mailsInBatch = Math.min(batchMails, Math.max(1, fitting))
	const flights = new Set<Promise<void>>()
	let cursor = positions.get(place)
	let settled = 0
	let failure: unknown

	let end: Omit<Rest, 'settled'>
	try {
		if (cursor === undefined) await adopt()
		end = await work()
	} finally {
		// Nobody walks away from a hand-over: its outcome would be lost.
		await Promise.all(flights)
	}
	if (failure) throw failure
	return { settled, ...end }

	async function work() {
		cursor ??= campaign.after
		while (!failure) {
			const waitMs = pause.remainingMs()
			if (waitMs > longestInlineWaitMs) return rest(1, waitMs, pause.reason() ?? 'paused')
			if (stopping.aborted || Date.now() > endsAt) return rest(1, 0, 'sending')
			if (waitMs > 0) await sleep(Math.min(waitMs, napMs))
			else if (flights.size >= (pause.isProbing() ? 1 : flightsAtOnce)) await Promise.race(flights)
			else if (!(await sendSlice())) {
				await Promise.all(flights)
				const next = await lookAround()
				if (next) return next
			}
		}
		return rest(1, 0, 'failed')
	}

	/** False when there was less than could have been sent: the end of the lane, or of its sending. */
	async function sendSlice() {
		const batchId = provider.deliverBatch ? randomUUID() : null
		let wanted = pause.isProbing() ? 1 : batchId ? mailsInBatch : pace.mails()
		if (rate > 0) {
			const seconds = batchId ? batchAheadSeconds : rateAheadSeconds
			wanted = Math.min(wanted, Math.max(1, Math.floor(rate * seconds)))
			await (batchId ? inLine(projectId, () => payFor(wanted)) : payFor(wanted))
			if (stopping.aborted) return true
		}
		const dkim = (await services.dkimKeys(projectId, [domain])).get(domain)
		const claimed = await claimSlice(pool, [
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
		countEnds(claimed)
		if (claimed.length > 0) positions.set(place, (cursor = claimed.at(-1)!.contact_id))
		if (mails.length > 0) launch(mails, batchId, dkim)
		return claimed.length === wanted
	}

	async function payFor(count: number) {
		if (stopping.aborted) return
		const [reserved] = await reserveRate(pool, [projectId, count, rate])
		await wait(reserved!.wait_ms)
	}

	function launch(
		mails: ClaimedMail[],
		batchId: string | null,
		dkim: Parameters<typeof fly>[1]['dkim'],
	) {
		for (const { id } of mails) inHand.add(id)
		const startedAt = performance.now()
		const flight = fly(services, { projectId, campaign, messages, batchId, mails, dkim })
			.then((count) => {
				settled += count
				pace.took(mails.length, performance.now() - startedAt)
			})
			.catch((error: unknown) => {
				failure = error
			})
			.finally(() => {
				for (const { id } of mails) inHand.delete(id)
				flights.delete(flight)
			})
		flights.add(flight)
	}

	/** At the end of the lane: whether something was left behind, and when it can go. */
	async function lookAround() {
		if (failure) return null
		const [left] = await restOfLane(pool, range)
		const { may_send, pending, sending, due_in_ms } = left!
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
		if (due_in_ms > longestInlineWaitMs) return rest(open, due_in_ms, 'not due yet')
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
			if (mails.length > 0) launch(mails, batchId, undefined)
			await Promise.all(flights)
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
