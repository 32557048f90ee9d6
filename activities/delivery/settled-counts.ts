import { meter } from '../telemetry/meter.ts'

/** Mails whose state in the ledger was just written: what goes on is no end, and is not counted. */
export function countEnds(mails: { status: string | null }[]) {
	for (const { status } of mails)
		if (status !== null && status !== 'PENDING' && status !== 'SENDING') meter.settled(status)
}
