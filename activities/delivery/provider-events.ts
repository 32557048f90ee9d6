import type { Pool } from 'pg'
import { forgetEvents, matchWaiting } from '../../db/reputation/evidence.ts'
import { beating } from '../beating.ts'

const pageSize = 1000

export function providerEventActivities({ pool, relay }: { pool: Pool; relay: { wake(): void } }) {
	return {
		/** Settles what waited for the record of its hand-over, and forgets what is old. */
		async sweepProviderEvents() {
			return beating(async () => {
				let matched = 0
				for (;;) {
					const [page] = await matchWaiting(pool, [pageSize])
					if (page!.matched === 0) break
					matched += page!.matched
				}
				if (matched > 0) relay.wake()
				let forgotten = 0
				for (;;) {
					const [page] = await forgetEvents(pool, [pageSize])
					forgotten += page!.forgotten
					if (page!.forgotten < pageSize) return { matched, forgotten }
				}
			})
		},
	}
}
