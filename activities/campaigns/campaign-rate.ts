import { reserveRate } from '../../db/campaigns/campaign-ledger.ts'
import { wait } from '../delivery/moments.ts'
import type { Turn } from './campaign-turn.ts'

/** How far ahead send rate is reserved. Rate further ahead stays free for more urgent mail. */
const aheadSeconds = 0.1
/** The same for batches. It is longer because providers also limit requests. */
const batchAheadSeconds = 1

/**
 * Waits for send rate. Returns the number of mails that it allows. All lanes of a project wait in one line: if each had
 * reserved some, a single mail would wait behind all of them.
 */
export async function payFor(turn: Turn, wanted: number): Promise<number> {
	const { services, campaign, lane, shared, usesBatches } = turn
	const rate = campaign.send_rate_per_second ?? services.settings.sendRatePerSecond
	if (rate === 0) return wanted
	if (turn.paid === 0) {
		const seconds = usesBatches ? batchAheadSeconds : aheadSeconds
		const count = Math.min(wanted, Math.max(1, Math.floor(rate * seconds)))
		await shared.inSequence(lane.projectId, () => reserveFor(turn, count, rate))
		turn.paid = count
	}
	return Math.min(wanted, turn.paid)
}

async function reserveFor({ services, lane }: Turn, count: number, rate: number) {
	const { pool, stopping } = services
	if (stopping.aborted) return // then the lane opens no more mails
	const asked = { projectId: lane.projectId, count, perSecond: rate }
	const [reserved] = await reserveRate(pool, asked)
	await wait(reserved!.wait_ms, stopping)
}
