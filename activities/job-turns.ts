import { Context } from '@temporalio/activity'
import { withHeartbeat } from './heartbeat.ts'
import { permanently } from './permanence.ts'

/** Short turns: everything else on the queue waits for a slot. */
const turnMs = 15_000

/**
 * Takes a turn at a job. It is over after a while, or when its worker stops. Returns whether the job needs another
 * turn; the database records how far it has come. Runs that began under an earlier release call once, so their turn
 * lasts until the job is done.
 */
export function takeJobTurn<Left>(
	stopping: AbortSignal,
	inTurns: boolean,
	work: (isOver: () => boolean) => Promise<Left>,
): Promise<Left> {
	const endsAt = performance.now() + turnMs
	const { cancellationSignal } = Context.current()
	const isOver = () =>
		inTurns && (performance.now() > endsAt || stopping.aborted || cancellationSignal.aborted)
	return withHeartbeat(() => permanently(() => work(isOver)))
}
