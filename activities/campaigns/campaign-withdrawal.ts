import { birthsInLane } from '../../db/campaigns/campaign-ledger.ts'
import { rangeOf, type Turn } from './campaign-turn.ts'

const lookMs = 500

/**
 * Takes mails back that still wait for a connection when their campaign may not be sent any more: a slow server
 * would get them for a long time. Returns the way to end this.
 */
export function watchForWithdrawal(turn: Turn) {
	const { services, underWay, withdrawal } = turn
	let isLooking = false
	const timer = setInterval(() => void look(), lookMs)
	return () => clearInterval(timer)

	async function look() {
		if (isLooking || underWay.count() === 0) return
		isLooking = true
		// While the database is away, this looks again.
		const rows = await birthsInLane(services.pool, rangeOf(turn)).catch(() => null)
		isLooking = false
		if (rows && !rows[0]?.may_send) withdrawal.abort()
	}
}
