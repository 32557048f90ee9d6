import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { isTurnOver } from '../../db/event-loop.ts'
import { transaction } from '../../db/transaction.ts'
import {
	type DeliveryOutcome,
	recordHealth,
	recordOutcomes,
} from '../../db/webhooks/webhook-outcomes.ts'
import {
	batchesAtOnce,
	type DueDelivery,
	dueDeliveries,
	queueBehindEarlier,
	type Turn,
	unpackBatches,
} from '../../db/webhooks/webhook-turns.ts'
import { openSession } from '../../outside/requests/guarded-request.ts'
import {
	isSuccess,
	maxAnswerBytes,
	payloadOf,
	postWebhook,
	secretsFor,
} from '../../outside/requests/webhook-post.ts'
import { failuresUntilRest, restAfter, retryAfterMs, waitAfter } from './webhook-plan.ts'
import type { EndpointKey, WebhookServices } from './webhooks.ts'

const pageRows = 200
const queuedAtOnce = 1000
const requestsAtOnce = 20
/** Outcomes wait for each other for at most this long, so that a slow request does not delay the record of others. */
const recordingMs = 500
/** Mail goes first: while a process is busy with it, webhooks get small pages and pauses. */
const mailsOfBusyProcess = 10
const busyUtilization = 0.5
const busyPageRows = 10
const mailsFirstMs = 250

interface Delivered {
	outcome: DeliveryOutcome
	/** The endpoint asked to be left alone for this time, or for good. */
	pauseMs: number | null
}

/** Delivers what is due, page by page, until nothing is, the endpoint needs a rest, or the turn is over. */
export async function deliverDue(
	{ pool, settings, inHand }: WebhookServices,
	key: EndpointKey,
	endpoint: Turn,
	isTimeUp: () => boolean,
) {
	const target = { url: endpoint.url, secrets: secretsFor(endpoint, settings.secret) }
	const session = openSession({ connections: requestsAtOnce, maxAnswerBytes })
	const isOrdered = endpoint.ordering === 'email'
	const { updatedAt, failuresInRow, restingUntil, isResting } = endpoint
	const health = { failuresInRow, restingUntil, isResting }
	let posted = 0
	let loopBefore = performance.eventLoopUtilization()
	/** By these tries: the members are to be told. */
	let isDisabled = false
	/** Disabled, deleted or changed meanwhile, or its rest was ended: the next turn reads it anew. */
	let isClosed = false
	/** What the endpoint has asked for holds for answers that were under way, too. */
	let pausedUntil = 0
	try {
		while (!isOver()) {
			const mailsFirst = isBusy()
			if (mailsFirst) await sleep(mailsFirstMs)
			await unpackBatches(pool, { ...key, limit: mailsFirst ? 1 : batchesAtOnce })
			const page = await nextPage(mailsFirst ? busyPageRows : pageRows)
			if (page.length === 0) break
			await deliverPage(page)
		}
	} finally {
		session.close()
	}
	return { posted, isDisabled }

	/** Many mails are in hand with a slow provider, too, but then the processor has time. */
	function isBusy() {
		if (inHand.size < mailsOfBusyProcess) return false
		const now = performance.eventLoopUtilization()
		const { utilization } = performance.eventLoopUtilization(now, loopBefore)
		loopBefore = now
		return utilization > busyUtilization
	}

	function isOver() {
		return isTimeUp() || health.isResting || isClosed
	}

	async function nextPage(most: number) {
		// After many failures one delivery tries whether the endpoint is back.
		const limit = health.failuresInRow >= failuresUntilRest ? 1 : most
		while (isOrdered && (await queueBehind()) > 0) if (isOver()) return []
		return dueDeliveries(pool, { ...key, updatedAt, limit, isOrdered })
	}

	async function queueBehind() {
		return (await queueBehindEarlier(pool, { ...key, limit: queuedAtOnce }))[0]!.queued
	}

	async function deliverPage(page: DueDelivery[]) {
		const waiting = page.values()
		const done: Delivered[] = []
		let failures = health.failuresInRow
		let recording = Promise.resolve()
		const record = () => {
			const recorded = done.splice(0)
			if (recorded.length > 0) recording = recording.then(() => recordAll(recorded))
			return recording
		}
		const lane = async () => {
			for (const delivery of waiting) {
				// Not takeTurn(): awaiting it would let all lanes look at the time before any of them has worked.
				while (isTurnOver()) await nextTurn()
				const delivered = await deliver(delivery)
				done.push(delivered)
				failures = delivered.outcome.status === 'DELIVERED' ? 0 : failures + 1
				const isDown = failures >= failuresUntilRest || delivered.pauseMs !== null
				// What is left of the page stays due.
				if (isDown || isOver()) return
			}
		}
		const timer = setInterval(() => void record().catch(() => {}), recordingMs)
		try {
			await Promise.all(Array.from({ length: Math.min(requestsAtOnce, page.length) }, lane))
		} finally {
			clearInterval(timer)
		}
		await record()
	}

	async function deliver(delivery: DueDelivery): Promise<Delivered> {
		const { id, eventId, type, occurredAt, data, tries, dueAt } = delivery
		const payload = delivery.payload ?? payloadOf(type, occurredAt, data!)
		const { attempt, retryAfter } = await postWebhook(
			target,
			{ eventId, payload },
			settings.webhooks,
			session,
		)
		posted += 1
		const base = { id, dueAt, payload, attempt }
		if (isSuccess(attempt))
			return { outcome: { ...base, status: 'DELIVERED', waitMs: null }, pauseMs: null }
		const asked = retryAfterMs(retryAfter)
		const waitMs = attempt.status === 410 ? null : waitAfter(tries + 1, asked)
		const isBusy = attempt.status === 429 || attempt.status === 503
		return {
			outcome: { ...base, status: waitMs === null ? 'FAILED' : 'PENDING', waitMs },
			pauseMs: isBusy ? asked : attempt.status === 410 ? 0 : null,
		}
	}

	/** Requests that were under way together count up to the first rest only: the next rests are longer. */
	function mostFailures(before: number) {
		return Math.max(failuresUntilRest - before, health.isResting ? 0 : 1)
	}

	async function recordAll(delivered: Delivered[]) {
		const outcomes = delivered.map(({ outcome }) => outcome)
		const succeededAt = outcomes.findLastIndex(({ status }) => status === 'DELIVERED')
		const succeeded = succeededAt >= 0
		const before = succeeded ? 0 : health.failuresInRow
		const failures = Math.min(outcomes.length - 1 - succeededAt, mostFailures(before))
		const now = performance.now()
		for (const { pauseMs } of delivered)
			if (pauseMs !== null) pausedUntil = Math.max(pausedUntil, now + pauseMs)
		const restMs = restAfter(before + failures, Math.max(0, pausedUntil - now))
		const isGone = outcomes.some(({ attempt }) => attempt.status === 410)
		const known = { ...key, url: endpoint.url, updatedAt, restingUntil: health.restingUntil }
		// In one transaction: the owner's next act finds the outcomes.
		const { isDisabledNow, asRead } = await transaction(pool, async (db) => {
			const [now] = await recordHealth(db, { ...known, succeeded, failures, isGone, restMs })
			const isOverruled = !now || now.isOverruled
			await recordOutcomes(db, {
				...key,
				outcomes: isOverruled ? outcomes.map(triedAnew) : outcomes,
				isOrdered,
			})
			return { isDisabledNow: !!now && now.disabled !== null, asRead: isOverruled ? null : now }
		})
		isDisabled ||= isDisabledNow
		if (!asRead) {
			isClosed = true
			return
		}
		health.failuresInRow = asRead.failuresInRow
		health.restingUntil = asRead.restingUntil
		health.isResting ||= restMs !== null
		isClosed ||= asRead.isClosed
	}
}

/** The endpoint as it is now has not been tried. A failed delivery is due, even after its last try, unless the answer was 410. */
const triedAnew = (outcome: DeliveryOutcome): DeliveryOutcome =>
	outcome.status === 'DELIVERED' || outcome.attempt.status === 410
		? outcome
		: { ...outcome, status: 'PENDING', waitMs: 0 }
