import { finishClaim, freeRun, mailsOfClaim } from '../../db/emails/ledger.ts'
import type { Relay } from '../../db/outbox/relay.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { deliverMails, fullPass, type Pass, shortPass } from './claim-source.ts'
import type { DeliveryServices, Rest } from './delivery.ts'

/**
 * Short passes of this process under way. Each occupies one of the worker's slots for workflow tasks, which a
 * slow provider must not fill.
 */
export const mostShortPasses = 20

export function deliveryActivities(
	services: DeliveryServices & { relay: Pick<Relay, 'wakeSends'> },
) {
	const { pool, relay, provider, stopping } = services
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

	return {
		/** One pass over a claim's mails, as far as it gets without a long wait. */
		deliverClaim: (claimId: string) => withHeartbeat(() => deliverAs(fullPass, claimId)),

		/**
		 * A short pass, as part of a workflow task: most mails need no other. Null: this process has too many of
		 * them. If it returns no wait, `deliverClaim` goes on.
		 */
		async deliverClaimAtOnce(claimId: string): Promise<Rest | null> {
			if (shortPasses >= mostShortPasses || stopping.aborted) return null
			shortPasses++
			try {
				return await deliverAs(shortPass, claimId)
			} finally {
				shortPasses--
			}
		},
	}
}
