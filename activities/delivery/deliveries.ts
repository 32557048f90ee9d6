import { finishClaim, freeRun, mailsOfClaim } from '../../db/emails/ledger.ts'
import { beating } from '../beating.ts'
import { deliver, type DeliveryServices, type Rest } from './delivery.ts'

export function deliveryActivities(services: DeliveryServices & { relay: { wake(): void } }) {
	const { pool, relay } = services
	return {
		/**
		 * One pass over a claim's mails: as far as it goes without a long wait. The ledger says what was
		 * done, so a second pass, or one beside a lost first, repeats nothing.
		 */
		async deliverClaim(claimId: string): Promise<Rest> {
			return beating(async () => {
				const rest = await deliver(services, () => mailsOfClaim(pool, [claimId]))
				const finished = rest.left === 0 && (await finishClaim(pool, [claimId]))[0]!.finished
				// A claim that was finished before may have been started anew at the same moment.
				if (!finished) await freeRun(pool, [claimId])
				relay.wake()
				// Something is open that another worker opened: look again until it is settled.
				return rest.left > 0 || finished || (await mailsOfClaim(pool, [claimId])).length === 0
					? rest
					: { ...rest, left: 1, waitMs: 1000, because: 'another worker is at it' }
			})
		},
	}
}
