import type { Pool } from 'pg'
import { exceeds, type Limit, limitUnderLock } from '../../db/billing/usage-standing.ts'
import { acceptSend } from '../../db/emails/acceptance.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'

/** A request that has been let in: what it counts, and the limit that was nearest then. */
interface LimitedSend {
	projectId: string
	weight: number
	limit: Limit | null
}

/** So much is not taken by the requests of one moment. */
const plenty = 5000

/** Where little is left, requests take turns, so that no two take the same rest. */
export async function acceptWithinLimit(pool: Pool, send: LimitedSend, values: unknown[]) {
	const { projectId, weight, limit } = send
	if (!limit || limit.limit - limit.usage - weight > plenty) return acceptSend(pool, values)
	return transaction(pool, async (db) => {
		refuseOver(await limitUnderLock(db, projectId), weight)
		return acceptSend(db, values)
	})
}

export function refuseOver(limit: Limit | null, weight: number) {
	if (!limit || !exceeds(limit, weight)) return
	const { category, limit: allowed, usage } = limit
	const now = new Date()
	const resetsAt = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1))
	const isFree = category === 'total'
	throw new ApiError(
		429,
		'BILLING_LIMIT_EXCEEDED',
		`This month's limit ${isFree ? 'without a subscription' : `of ${category} mail`} is reached`,
		{
			details: { category, limit: allowed, usage, requested: weight, resetsAt },
			suggestion: isFree
				? 'Subscribe with POST /users/@me/projects/{id}/checkout.'
				: 'Raise it with PUT /users/@me/projects/{id}/billing-limits.',
		},
	)
}
