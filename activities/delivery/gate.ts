export interface Gate {
	/** Waits for its turn, then grants as many places as may be had: at least one, at most `wanted`. */
	enter(project: string, wanted: number): Promise<number>
	/** Places that were not needed, or whose mails the provider has answered for. */
	leave(project: string, places: number): void
	/** Of the mails that were handed over, so many are in the ledger. */
	recorded(mails: number): void
}

/** What one project may hold: its slow recipients must not take every connection there is. */
const shareOfOne = 0.75
/** Answers that wait for the ledger, as a multiple of the hand-overs under way. */
const unrecordedShare = 2

/**
 * Bounds what a process has in its hands: `size` hand-overs under way, so that a mail is opened only
 * when it can go at once, and twice as many whose outcome is still to be recorded. A kill leaves no
 * more than that in doubt. Places are given in the order of asking, so that a run of thousands and a
 * run of one take turns.
 */
export function createGate(size: number): Gate {
	const most = Math.max(1, Math.floor(size * shareOfOne))
	let free = size
	let unrecorded = 0
	const held = new Map<string, number>()
	let queue: { project: string; wanted: number; grant: (places: number) => void }[] = []

	function serve() {
		queue = queue.filter(({ project, wanted, grant }) => {
			const holding = held.get(project) ?? 0
			const room = size * (1 + unrecordedShare) - unrecorded
			const places = Math.min(wanted, free, most - holding, room)
			if (places <= 0) return true
			free -= places
			unrecorded += places
			held.set(project, holding + places)
			grant(places)
			return false
		})
	}

	return {
		enter: (project, wanted) =>
			new Promise((grant) => {
				queue.push({ project, wanted, grant })
				serve()
			}),
		leave(project, places) {
			const holding = (held.get(project) ?? 0) - places
			if (holding > 0) held.set(project, holding)
			else held.delete(project)
			free += places
			serve()
		},
		recorded(mails) {
			unrecorded -= mails
			serve()
		},
	}
}
