import type { Pool } from 'pg'
import { forgetEvents, matchWaiting } from '../../db/reputation/evidence.ts'
import { withHeartbeat } from '../heartbeat.ts'

const pageSize = 1000

export function providerEventActivities({ pool, relay }: { pool: Pool; relay: { wake(): void } }) {
	return {
		/** Applies events that waited for the record of their hand-over, and deletes old ones. */
		async sweepProviderEvents() {
			return withHeartbeat(async () => {
				let matched = 0
				for (;;) {
					const [page] = await matchWaiting(pool, { limit: pageSize })
					if (page!.matched === 0) break
					matched += page!.matched
				}
				if (matched > 0) relay.wake()
				let forgotten = 0
				for (;;) {
					const [page] = await forgetEvents(pool, { limit: pageSize })
					forgotten += page!.forgotten
					if (page!.forgotten < pageSize) return { matched, forgotten }
				}
			})
		},
	}
}
