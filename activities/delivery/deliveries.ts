import { finishClaim, freeRun, mailsOfClaim } from '../../db/emails/ledger.ts'
import { inTime } from '../../db/in-time.ts'
import type { Relay } from '../../db/outbox/relay.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { deliverMails, fullPass, type Pass, shortPass } from './claim-source.ts'
import type { DeliveryServices, Rest } from './delivery.ts'

/**
 * Short passes of this process that workflow tasks wait for. Each occupies one of the worker's slots for such tasks,
 * which a slow provider must not fill.
 */
export const mostShortPasses = 20
/**
 * A workflow task that runs for ten seconds may be given to another worker if this one stalls. The other one would
 * doubt the mail that this one is handing over. So the task waits no longer than this for a pass, and an activity
 * waits for the rest.
 */
const longestTaskMs = 3000

export interface FirstRest extends Rest {
	/** The worker that goes on with the pass. */
	worker?: string
}

interface Services extends DeliveryServices {
	relay: Pick<Relay, 'wakeSends'>
	/** Names this worker's own queue. */
	workerId: string
	/** The first passes of this process under way, by claim. */
	firstPasses: Map<string, Promise<Rest>>
}

export function deliveryActivities(services: Services) {
	const { pool, relay, provider, stopping, workerId, firstPasses } = services
	const openMails = (claimId: string) => mailsOfClaim(pool, { claimId, provider: provider.name })
	let shortPasses = 0

	/** The ledger records what is done, so a second pass repeats nothing, even beside a lost first pass. */
	async function deliverAs(pass: Pass, claimId: string): Promise<Rest> {
		let rest = await deliverMails(services, () => openMails(claimId), pass)
		const finished = rest.left === 0 && (await finishClaim(pool, { claimId }))[0]!.finished
		// Another worker has opened some of these mails: look again until they are settled.
		if (rest.left === 0 && !finished && (await openMails(claimId)).length > 0)
			rest = { ...rest, left: 1, waitMs: 1000, because: 'another worker is delivering them' }
		const goesOnAtOnce = rest.left > 0 && rest.waitMs < pass.leastWaitMs
		// A claim that finished before may have been started again at the same moment.
		if (!finished && !goesOnAtOnce) await freeRun(pool, { claimId })
		relay.wakeSends()
		return goesOnAtOnce ? { ...rest, waitMs: 0 } : rest
	}

	function firstPass(claimId: string) {
		const pass = deliverAs(shortPass, claimId).finally(() => firstPasses.delete(claimId))
		firstPasses.set(claimId, pass)
		// Whoever waits for it gets the error.
		pass.catch(() => {})
		return pass
	}

	return {
		/** One pass over a claim's mails, as far as it gets without a long wait; or the rest of the first one. */
		deliverClaim: (claimId: string) =>
			withHeartbeat(() => firstPasses.get(claimId) ?? deliverAs(fullPass, claimId)),

		/**
		 * A short pass, as part of a workflow task: most mails need no other. Null: this process has too many of
		 * them, or is stopping. If mails are left without a wait, `deliverClaim` goes on; if a worker is named, in
		 * that worker.
		 */
		async deliverClaimAtOnce(claimId: string): Promise<FirstRest | null> {
			let pass = firstPasses.get(claimId)
			if (!pass && (shortPasses >= mostShortPasses || stopping.aborted)) return null
			shortPasses++
			try {
				pass ??= firstPass(claimId)
				return (await inTime(longestTaskMs, pass)) ?? { ...unfinished, worker: workerId }
			} finally {
				shortPasses--
			}
		},
	}
}

const unfinished = { settled: 0, left: 1, waitMs: 0, because: 'the first pass takes longer' }
