import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { Ended } from '../../db/emails/ledger.ts'
import type { DkimKey } from '../../mail/mime/dkim.ts'
import type { Gate } from './gate.ts'
import type { HandoverServices } from './handover.ts'
import type { LargeMails } from './large-mails.ts'
import { napMs } from './moments.ts'
import type { RecordTogether } from './recorder.ts'
import type { HandOver, Source, Wait } from './source.ts'

export interface DeliveryServices extends HandoverServices {
	gate: Gate
	/** Records single mails. */
	record: RecordTogether
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

/** What remains of a source, and when to look at it again. */
export interface Rest extends Wait {
	/** The number of mails that this turn has settled, with any outcome. */
	settled: number
	left: number
}

const startsInARow = 8

interface Delivery {
	services: DeliveryServices
	source: Source
}

/**
 * Delivers mails of one project: takes over what a lost worker left, waits for send rate and a free slot,
 * opens attempts immediately before the hand-over, hands over, and records how the attempts end. Safe to
 * run again at any moment, even beside an earlier run for the same mails that is still alive.
 */
export async function deliver(services: DeliveryServices, source: Source): Promise<Rest> {
	const { underWay } = source
	let wait: Wait
	try {
		await source.adopt()
		wait = await work({ services, source })
	} finally {
		await underWay.allEnd()
	}
	underWay.throwFailure()
	return { ...source.progress(), waitMs: wait.waitMs, because: withoutAddresses(wait.because) }
}

/** Hands over all mails that are due, until nothing is left, the rest has a long wait or the turn is over. */
async function work(delivery: Delivery): Promise<Wait> {
	const { services, source } = delivery
	const { pause, stopping } = services
	const { underWay } = source
	const endsAt = performance.now() + source.longestTurnMs
	while (source.progress().left > 0 && !underWay.hasFailed()) {
		if (stopping.aborted || performance.now() > endsAt)
			return { waitMs: 0, because: 'another turn continues' }
		const pauseMs = pause.remainingMs()
		const most = pause.isProbing() ? 1 : source.mostAtOnce
		if (pauseMs > source.longestWaitMs && underWay.count() === 0)
			return { waitMs: pauseMs, because: pause.reason()! }
		if (pauseMs > 0) await Promise.race([underWay.oneEnd(), sleep(Math.min(pauseMs, napMs))])
		else if (underWay.count() >= most) await underWay.oneEnd()
		else if (!(await startNext(delivery))) {
			const wait = await source.lookAround()
			if (wait) return wait
		}
	}
	return { waitMs: 0, because: '' }
}

/** Opens the mails that are ready and starts to hand them over. False: none is. */
async function startNext(delivery: Delivery): Promise<boolean> {
	const { services, source } = delivery
	const { pause, stopping } = services
	const { projectId, slots, underWay } = source
	const wanted = await source.ready(pause.isProbing() ? 1 : Infinity)
	if (wanted === 0) return false
	const granted = await slots.enter(projectId, wanted)
	let used = 0
	try {
		// The wait for rate and slots may have been long.
		if (stopping.aborted || pause.remainingMs() > 0) return true
		if (pause.isProbing() && (granted > 1 || underWay.count() > 0)) return true
		for (const [index, handOver] of (await source.open(granted)).entries()) {
			// Each start composes a mail: other work of this process gets its turn in between.
			if (index > 0 && index % startsInARow === 0) await setImmediate()
			used += handOver.mails.length
			start(delivery, handOver)
		}
		return true
	} finally {
		slots.giveBack(projectId, granted - used)
	}
}

/** Hands over and records. If that fails, the delivery ends, and `underWay` has the error. */
function start({ source }: Delivery, { mails, run }: HandOver) {
	const { projectId, slots, underWay } = source
	void underWay.start(mails, async () => {
		try {
			let ended: Ended[]
			try {
				ended = await run()
			} finally {
				slots.answered(projectId, mails.length)
			}
			await source.record(ended, underWay.count() === 1)
			source.recorded(ended)
		} finally {
			slots.recorded(projectId, mails.length)
		}
	})
}

/** Reasons become part of Temporal's history, which must not contain email addresses. */
const withoutAddresses = (text: string) => text.replaceAll(/\S+@\S+/g, '<address>')
