import { meter } from '../../outside/telemetry/meter.ts'

/** Counts mails by the status just written, UNCERTAIN included. A mail that is PENDING again is not counted. */
export function countEnds(mails: { status: string | null }[]) {
	for (const { status } of mails)
		if (status !== null && status !== 'PENDING' && status !== 'SENDING') meter.settled(status)
}
