import { sendingInLane } from '../../db/campaigns/campaign-ledger.ts'
import { doubt } from '../../db/emails/doubt.ts'
import { countEnds } from '../delivery/settled-counts.ts'
import { rangeOf, type Turn } from './campaign-turn.ts'

type Orphan = Awaited<ReturnType<typeof sendingInLane>>[number]

/**
 * Finds the mails that a lost worker was handing over. A batch will be repeated under its key; any other
 * mail is in doubt. Returns true if this process is still handing over all open mails, in a turn that
 * Temporal has given up; that turn will record them.
 */
export async function adopt(turn: Turn): Promise<boolean> {
	const { pool, inHand } = turn.services
	const open = await sendingInLane(pool, rangeOf(turn))
	const orphans = open.filter(({ id }) => !inHand.has(id))
	if (open.length > 0 && orphans.length === 0) return true
	const isRepeatable = ({ batch_id, is_old }: Orphan) =>
		batch_id !== null && turn.usesBatches && !is_old
	turn.lostBatches = batchesOf(orphans.filter(isRepeatable))
	await doubtMails(
		turn,
		orphans.filter((orphan) => !isRepeatable(orphan)),
	)
	return false
}

function batchesOf(orphans: Orphan[]) {
	const writtenAt = new Map<string, Date>()
	for (const { batch_id, updated_at } of orphans) {
		const known = writtenAt.get(batch_id!)
		if (!known || known < updated_at) writtenAt.set(batch_id!, updated_at)
	}
	return [...writtenAt]
}

async function doubtMails(turn: Turn, orphans: Orphan[]) {
	if (orphans.length === 0) return
	const { pool, provider } = turn.services
	const after = await doubt(pool, {
		projectId: turn.lane.projectId,
		mails: orphans.map(({ id, attempt }) => ({ id, attempt })),
		provider: provider.name,
		isIdempotent: provider.idempotent,
	})
	countEnds(after)
	turn.settled += after.filter(({ status }) => status === 'UNCERTAIN').length
}
