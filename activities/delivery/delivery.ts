import { setTimeout as sleep } from 'node:timers/promises'
import { type Ended, type OpenMail, recordEnds } from '../../db/emails/ledger.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import type { Gate } from './gate.ts'
import type { HandoverServices } from './handover.ts'
import type { LargeMails } from './large-mails.ts'
import { launch, type Pass, pickReady } from './launching.ts'
import { napMs, timed, type TimedMail, untilNext } from './moments.ts'
import { prepare } from './preparation.ts'
import { createRecorder } from './recorder.ts'
import { payFor } from './send-rate.ts'
import { createUnderWay } from './under-way.ts'

export interface DeliveryServices extends HandoverServices {
	gate: Gate
	/** Mails that any run of this process is handing over. Their worker is not lost. */
	inHand: Set<string>
	largeMails: LargeMails
	dkimKeys(projectId: string, domains: string[]): Promise<Map<string, DkimKey | undefined>>
	settings: HandoverServices['settings'] & {
		/** The default for projects without a rate of their own; 0 is unlimited. */
		sendRatePerSecond: number
		uncertainAfterMs: number
	}
	/** The process is stopping: no more mail may be handed over. */
	stopping: AbortSignal
}

/** What remains of a set, and when to look at it again. */
export interface Rest {
	/** The number of mails that this pass has settled, with any outcome. */
	settled: number
	left: number
	waitMs: number
	because: string
}

/** Longer waits belong to the workflow: there they survive this process and occupy no activity slot. */
const longestInlineWaitMs = 5000
/** How often a long pass looks suppressions, cancellations and the like up again. */
const refreshMs = 2000
/** After this the set returns to its workflow, which starts another pass. */
const longestPassMs = 20 * 60_000
const gatherMs = 5

/**
 * Delivers a set of mails of one project: settles mails that may not be sent, waits for send rate, opens
 * attempts just before the hand-over, and records how they end. The mails of one request are sent one
 * after the other. Safe to run again at any moment, even beside an earlier run of the same set that is
 * still alive.
 */
export async function deliver(
	services: DeliveryServices,
	load: () => Promise<OpenMail[]>,
): Promise<Rest> {
	const { pool, inHand } = services
	const loaded = (await load()).map(timed)
	const todo = await prepare(services, loaded, new Map())
	const first = todo.values().next().value
	if (!first) return { settled: loaded.length, left: 0, waitMs: 0, because: '' }
	const project = first.project_id
	const write = (ended: Ended[]) => recordEnds(pool, project, ended)
	const recorder = createRecorder({ write, gatherMs })
	const pass: Pass = { services, project, todo, underWay: createUnderWay(inHand), recorder }

	let wait: Wait
	try {
		wait = await work(pass, async () => (await load()).map(timed))
	} finally {
		await pass.underWay.allEnd()
	}
	pass.underWay.throwFailure()
	const left = pass.todo.size
	return { settled: loaded.length - left, left, ...wait }
}

type Wait = Pick<Rest, 'waitMs' | 'because'>

/** Hands over all mails that are due, until nothing is left or the rest has a long wait. */
async function work(pass: Pass, load: () => Promise<TimedMail[]>): Promise<Wait> {
	const { services, underWay } = pass
	const { pause, settings, stopping } = services
	const startedAt = performance.now()
	let loadedAt = startedAt
	while (pass.todo.size > 0 && !underWay.hasFailed()) {
		if (performance.now() - loadedAt > refreshMs) {
			pass.todo = await prepare(services, await load(), underWay.mails)
			loadedAt = performance.now()
		}
		const isLeaving = stopping.aborted || performance.now() - startedAt > longestPassMs
		const ready = isLeaving ? [] : await payFor(services, pass.todo, pickReady(pass))
		if (ready.length > 0) {
			await launch(pass, ready)
			continue
		}
		const isIdle = underWay.count() === 0
		if (isLeaving && isIdle) return { waitMs: 0, because: 'another worker continues' }
		const waitMs = pause.remainingMs() || untilNext(pass.todo.values(), settings.uncertainAfterMs)
		if (isIdle && waitMs > longestInlineWaitMs) return { waitMs, because: reasonOf(pass) }
		await Promise.race([underWay.oneEnd(), sleep(Math.min(waitMs, napMs))])
	}
	return { waitMs: 0, because: '' }
}

/** Why a pass waits: the provider is unavailable, or this is its last answer for the next mail. */
function reasonOf({ services, todo }: Pass) {
	let next: TimedMail | undefined
	for (const mail of todo.values())
		if (mail.error && (!next || (mail.dueAt ?? 0) < (next.dueAt ?? 0))) next = mail
	return withoutAddresses(services.pause.reason() ?? next?.error ?? 'not due yet')
}

/** Reasons become part of Temporal's history, which must not contain email addresses. */
export const withoutAddresses = (text: string) => text.replaceAll(/\S+@\S+/g, '<address>')
