import type { Slots } from './slots.ts'

/** The share of one project, so that slow recipients of one project can't occupy all connections. */
const shareOfOne = 0.75
/** Answers that are not recorded yet, as a multiple of the hand-overs under way. */
const unrecordedShare = 2

/**
 * Limits a process to `size` hand-overs under way, so that a mail is opened only when it can be sent at
 * once, and to twice as many outcomes that are not recorded yet. A killed process leaves at most these
 * mails in doubt. Slots are granted in the order of requests, so large and small runs take turns.
 */
export function createGate(size: number): Slots {
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

	function answered(project: string, slots: number) {
		const holding = (held.get(project) ?? 0) - slots
		if (holding > 0) held.set(project, holding)
		else held.delete(project)
		free += slots
		serve()
	}

	function recorded(mails: number) {
		unrecorded -= mails
		serve()
	}

	return {
		answered,
		recorded,
		giveBack(project, slots) {
			answered(project, slots)
			recorded(slots)
		},
		enter: (project, wanted) =>
			new Promise((grant) => {
				queue.push({ project, wanted, grant })
				serve()
			}),
	}
}
