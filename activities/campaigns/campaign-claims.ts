import { randomUUID } from 'node:crypto'
import {
	bearSlice,
	type ClaimedMail,
	claimSlice,
	takeBatchOver,
} from '../../db/campaigns/campaign-ledger.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import type { HandOver } from '../delivery/source.ts'
import { handBatch } from './campaign-batches.ts'
import { handOne } from './campaign-handover.ts'
import type { Turn } from './campaign-turn.ts'

/** Opens attempts for the lane's next mails. */
export async function openNext(turn: Turn, count: number): Promise<HandOver[]> {
	const batchId = turn.usesBatches ? randomUUID() : null
	const dkim = await keyOf(turn)
	const claimed = await claim(turn, count, batchId)
	countEnds(claimed)
	const mails = claimed.filter(({ status }) => status === 'SENDING')
	turn.settled += claimed.length - mails.length
	turn.paid -= Math.min(turn.paid, mails.length)
	turn.isAtEnd = turn.hasPages ? claimed.length === 0 : claimed.length < count
	if (batchId) return batchOf(turn, mails, batchId, false)
	return mails.map((mail) => ({
		mails: [mail],
		run: async () => [await handOne(turn, mail, dkim)],
	}))
}

/** Takes a batch over, to repeat it under its key. */
export async function openAgain(turn: Turn, batchId: string, writtenAt: Date) {
	const { projectId, campaignId } = turn.lane
	const { pool, provider } = turn.services
	const lost = { projectId, campaignId, batchId, writtenAt, provider: provider.name }
	return batchOf(turn, await takeBatchOver(pool, lost), batchId, true)
}

const batchOf = (
	turn: Turn,
	mails: ClaimedMail[],
	batchId: string,
	isRepeat: boolean,
): HandOver[] =>
	mails.length === 0 ? [] : [{ mails, run: () => handBatch(turn, mails, batchId, isRepeat) }]

async function keyOf({ services, lane, campaign }: Turn) {
	const domain = campaign.from.slice(campaign.from.lastIndexOf('@') + 1)
	return (await services.dkimKeys(lane.projectId, [domain])).get(domain)
}

/** The lane's next mails: those that are born now, and after them those that wait for another try. */
async function claim(turn: Turn, limit: number, batchId: string | null): Promise<ClaimedMail[]> {
	const { services, lane, campaign } = turn
	const asked = {
		projectId: lane.projectId,
		campaignId: lane.campaignId,
		until: campaign.until,
		limit,
		provider: services.provider.name,
		tracked: campaign.tracked,
		batchId,
	}
	if (turn.hasPages) return bearSlice(services.pool, { ...asked, after: campaign.after })
	const claimed = await claimSlice(services.pool, { ...asked, after: turn.cursor })
	turn.cursor = claimed.at(-1)?.contact_id ?? turn.cursor
	return claimed
}
