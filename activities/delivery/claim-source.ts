import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptEnd, OpenMail } from '../../db/emails/ledger.ts'
import { deliver, type DeliveryServices, type Rest } from './delivery.ts'
import {
	longestInlineWaitMs,
	momentIn,
	napMs,
	timed,
	type TimedMail,
	untilNext,
} from './moments.ts'
import { openMails } from './opening.ts'
import { pickReady } from './picking.ts'
import { prepare } from './preparation.ts'
import { payFor } from './send-rate.ts'
import type { Source } from './source.ts'
import { createUnderWay, type UnderWay } from './under-way.ts'

/** A set of single mails of one project. The mails of one request are sent one after the other. */
export interface Claim {
	services: DeliveryServices
	projectId: string
	/** The mails that are not settled, as far as this turn knows. */
	todo: Map<string, TimedMail>
	underWay: UnderWay<TimedMail>
}

/** How often a long turn looks suppressions, cancellations and the like up again. */
const refreshMs = 2000

/** How far a pass over a claim's mails goes. */
export interface Pass {
	/** After this another pass goes on. */
	longestTurnMs: number
	/** For a longer wait the pass ends. */
	longestWaitMs: number
	/** A shorter wait is for the pass that follows at once, so the run keeps its place among the new ones. */
	leastWaitMs: number
}

export const fullPass: Pass = {
	longestTurnMs: 20 * 60_000,
	longestWaitMs: longestInlineWaitMs,
	leastWaitMs: 0,
}

export const shortPass: Pass = {
	longestTurnMs: 1000,
	longestWaitMs: 0,
	leastWaitMs: longestInlineWaitMs,
}

/** Delivers the mails of a claim. */
export async function deliverMails(
	services: DeliveryServices,
	load: () => Promise<OpenMail[]>,
	pass = fullPass,
): Promise<Rest> {
	const mails = await load()
	if (mails.length === 0) return { settled: 0, left: 0, waitMs: 0, because: '' }
	return deliver(services, claimSource(services, mails, load, pass))
}

function claimSource(
	services: DeliveryServices,
	loaded: OpenMail[],
	load: () => Promise<OpenMail[]>,
	{ longestTurnMs, longestWaitMs }: Pass,
): Source {
	const projectId = loaded[0]!.project_id
	const underWay = createUnderWay<TimedMail>(services.inHand)
	const claim: Claim = { services, projectId, todo: new Map(), underWay }
	let preparedAt = 0
	let picked: TimedMail[] = []

	async function prepareAll(mails: OpenMail[]) {
		const leastTriedFirst = mails.toSorted((a, b) => a.attempt - b.attempt)
		claim.todo = await prepare(services, leastTriedFirst.map(timed), underWay.mails)
		preparedAt = performance.now()
	}

	return {
		projectId,
		underWay,
		slots: services.gate,
		mostAtOnce: Infinity,
		longestTurnMs,
		longestWaitMs,
		adopt: () => prepareAll(loaded),
		async ready(most) {
			if (performance.now() - preparedAt > refreshMs) await prepareAll(await load())
			picked = await payFor(services, claim.todo, pickReady(claim, most))
			return picked.length
		},
		open: (count) => openMails(claim, picked.slice(0, count)),
		record: (ended, alone) => services.record(projectId, ended, alone),
		recorded(ended) {
			for (const { end } of ended) remember(claim, end)
		},
		async lookAround() {
			const waitMs = untilNext(claim.todo.values(), services.settings.uncertainAfterMs)
			if (underWay.count() === 0 && waitMs > longestWaitMs)
				return { waitMs, because: reasonOf(claim) }
			await Promise.race([underWay.oneEnd(), sleep(Math.min(waitMs, napMs))])
			return null
		},
		progress: () => ({ settled: loaded.length - claim.todo.size, left: claim.todo.size }),
	}
}

/** Updates what this turn still has to do for a mail after an attempt. */
function remember({ todo }: Claim, { id, attempt, status, error, dueInMs }: AttemptEnd) {
	const mail = todo.get(id)
	if (!mail) return
	if (status === 'UNCERTAIN' && mail.source_type === 'TRANSACTIONAL') {
		Object.assign(mail, { status, attemptStartedAt: performance.now() })
		return
	}
	todo.delete(id)
	if (status !== 'PENDING') return
	Object.assign(mail, { status, attempt, error, dueAt: momentIn(dueInMs) ?? mail.dueAt })
	// Last: the others come first if this mail was the reason why the provider paused.
	todo.set(id, mail)
}

/** Why a turn waits: the provider's last answer for the next mail. */
function reasonOf({ todo }: Claim) {
	let next: TimedMail | undefined
	for (const mail of todo.values())
		if (mail.error && (!next || (mail.dueAt ?? 0) < (next.dueAt ?? 0))) next = mail
	return next?.error ?? 'not due yet'
}
