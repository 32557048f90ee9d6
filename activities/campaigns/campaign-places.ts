/** Mails in hand for each connection: one on the wire, one announced behind it, one that comes next. */
const fewestPerConnection = 3
/** So many more as are handed over in this time: it is what claiming and recording them may take. */
const ledgerMs = 100
const mostPerConnection = 20
/** A slice of this share is claimed as soon as there is room for it; smaller ones cost too many statements. */
const sliceShare = 1 / 6

export interface CampaignPlaces {
	/** Waits for its turn, then grants up to `wanted` places, at least a slice of them. */
	enter(wanted: number): Promise<number>
	/** The places were not needed. */
	giveBack(places: number): void
	/** A mail that had a place is in the ledger. */
	recorded(): void
	/** How many mails are worth a statement. */
	slice(): number
}

/**
 * Bounds the campaign mails that a process has claimed and not yet recorded. A killed worker leaves all
 * of them in doubt. Lanes get places in the order in which they ask.
 */
export function createCampaignPlaces(connections: number): CampaignPlaces {
	const fewest = fewestPerConnection * connections
	const most = mostPerConnection * connections
	const queue: { wanted: number; grant: (places: number) => void }[] = []
	let size = fewest
	let held = 0
	let done = 0
	let since = performance.now()

	const slice = () => Math.ceil(size * sliceShare)

	function serve() {
		for (let next = queue[0]; next; next = queue[0]) {
			const places = Math.min(next.wanted, 2 * slice(), size - held)
			if (places < Math.min(next.wanted, slice())) return
			queue.shift()
			held += places
			next.grant(places)
		}
	}

	function measure() {
		done += 1
		const ms = performance.now() - since
		if (ms < ledgerMs) return
		const fitting = fewest + (done * ledgerMs) / ms
		size = Math.round(Math.min(most, size * 1.5, (size + fitting) / 2))
		done = 0
		since = performance.now()
	}

	return {
		slice,
		enter: (wanted) =>
			new Promise((grant) => {
				queue.push({ wanted, grant })
				serve()
			}),
		giveBack(places) {
			held -= places
			serve()
		},
		recorded() {
			held -= 1
			measure()
			serve()
		},
	}
}
