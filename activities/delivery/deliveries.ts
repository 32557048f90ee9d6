import { finishClaim, freeRun, mailsOfClaim } from '../../db/emails/ledger.ts'
import { withHeartbeat } from '../heartbeat.ts'
import { deliverMails } from './claim-source.ts'
import type { DeliveryServices, Rest } from './delivery.ts'

export function deliveryActivities(services: DeliveryServices & { relay: { wake(): void } }) {
	const { pool, relay } = services
	return {
		/**
		 * One pass over a claim's mails, as far as it gets without a long wait. The ledger records what is done,
		 * so a second pass repeats nothing, even beside a lost first pass.
		 */
		async deliverClaim(claimId: string): Promise<Rest> {
			return withHeartbeat(async () => {
				const rest = await deliverMails(services, () =>
					mailsOfClaim(pool, { claimId, provider: services.provider.name }),
				)
				const finished = rest.left === 0 && (await finishClaim(pool, { claimId }))[0]!.finished
				// A claim that finished before may have been started again at the same moment.
				if (!finished) await freeRun(pool, { claimId })
				relay.wake()
				// Another worker has opened some of these mails: look again until they are settled.
				return rest.left > 0 ||
					finished ||
					(await mailsOfClaim(pool, { claimId, provider: services.provider.name })).length === 0
					? rest
					: { ...rest, left: 1, waitMs: 1000, because: 'another worker is delivering them' }
			})
		},
	}
}
