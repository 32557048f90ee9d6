export interface Gate {
	/** Waits for its turn, then grants as many slots as the project may have: at least one, at most `wanted`. */
	enter(project: string, wanted: number): Promise<number>
	/** Returns slots that were not needed, or whose mails the provider has answered for. */
	leave(project: string, slots: number): void
	/** This many of the handed-over mails are recorded in the ledger. */
	recorded(mails: number): void
}

/** The share of one project, so that slow recipients of one project can't occupy all connections. */
const shareOfOne = 0.75
/** Answers that are not recorded yet, as a multiple of the hand-overs under way. */
const unrecordedShare = 2

/**
 * Limits a process to `size` hand-overs under way, so that a mail is opened only when it can be sent at
 * once, and to twice as many outcomes that are not recorded yet. A killed process leaves at most these
 * mails in doubt. Slots are granted in the order of requests, so large and small runs take turns.
 */
export function createGate(size: number): Gate {
	const most = Math.max(1, Math.floor(size * shareOfOne))
	let free = size
	let unrecorded = 0
	const held = new Map<string, number>()
	let queue: { project: string; wanted: number; grant: (slots: number) => void }[] = []

	function serve() {
		queue = queue.filter(({ project, wanted, grant }) => {
			const holding = held.get(project) ?? 0
			const room = size * (1 + unrecordedShare) - unrecorded
			const slots = Math.min(wanted, free, most - holding, room)
			if (slots <= 0) return true
			free -= slots
			unrecorded += slots
			held.set(project, holding + slots)
			grant(slots)
			return false
		})
	}

	return {
		enter: (project, wanted) =>
			new Promise((grant) => {
				queue.push({ project, wanted, grant })
				serve()
			}),
		leave(project, slots) {
			const holding = (held.get(project) ?? 0) - slots
			if (holding > 0) held.set(project, holding)
			else held.delete(project)
			free += slots
			serve()
		},
		recorded(mails) {
			unrecorded -= mails
			serve()
		},
	}
}
