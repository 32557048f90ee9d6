export interface Gate {
	/** Waits for its turn, then grants as many places as may be had: at least one, at most `wanted`. */
	enter(project: string, wanted: number): Promise<number>
	leave(project: string, places: number): void
}

/** What one project may hold: its slow recipients must not take every connection there is. */
const shareOfOne = 0.75

/**
 * Bounds what a process has handed over and not yet recorded: a kill leaves at most `size` mails in
 * doubt. Places are given in the order of asking, so that a run of thousands and a run of one take turns.
 */
export function createGate(size: number): Gate {
	const most = Math.max(1, Math.floor(size * shareOfOne))
	let free = size
	const held = new Map<string, number>()
	let queue: { project: string; wanted: number; grant: (places: number) => void }[] = []

	function serve() {
		queue = queue.filter(({ project, wanted, grant }) => {
			const holding = held.get(project) ?? 0
			const places = Math.min(wanted, free, most - holding)
			if (places <= 0) return true
			free -= places
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
	}
}
