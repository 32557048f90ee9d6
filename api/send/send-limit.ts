import { exceeds, type Limit, limitUnderLock } from '../../db/billing/usage-standing.ts'
import { type AcceptedSend, acceptSend } from '../../db/emails/acceptance.ts'
import type { Acceptance } from '../../db/emails/acceptance-groups.ts'
import { transaction } from '../../db/transaction.ts'
import { ApiError } from '../errors.ts'

/** An admitted request: its weight, and the nearest limit at that time. */
interface LimitedSend {
	projectId: string
	weight: number
	limit: Limit | null
}

/** A process has at most 200 requests under way. Small ones together weigh at most this much. */
const plenty = 5000
const smallWeight = 25

/**
 * Large requests, and all requests near the limit, take turns, so that no two use the same remainder. Small requests
 * don't wait while plenty is left.
 */
export async function acceptWithinLimit(
	acceptance: Acceptance,
	send: LimitedSend,
	accepted: AcceptedSend,
) {
	const { projectId, weight, limit } = send
	if (!limit || (weight <= smallWeight && limit.limit - limit.usage - weight > plenty))
		return acceptance.accept(accepted)
	return acceptance.inQueue(projectId, () =>
		transaction(acceptance.pool, async (db) => {
			refuseOver(await limitUnderLock(db, projectId), weight)
			return acceptSend(db, accepted)
		}),
	)
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
