import type { Slots } from './slots.ts'

export interface Gate extends Slots {
	/** Waits until an opened mail may use a connection to the provider; it may until it is answered. */
	connection(project: string): Promise<unknown>
	/** Whether a mail has come a moment ago. */
	isInUse(): boolean
}

/** The share of one project, so that slow recipients or a slow template of one can't occupy all places. */
const shareOfOne = 0.75
/** Mails that are opened and not recorded yet, as a multiple of the connections. */
const mostPerConnection = 3
/**
 * As many mails as are answered in this time are opened before they have a connection, so that more share
 * each statement. With a slow provider, none are.
 */
const aheadMs = 20
const momentMs = 1000

/**
 * Limits a process to `size` hand-overs under way, to the mails that are opened for them or will be handed
 * over very soon, and to three times `size` that are not recorded yet. A killed process leaves at most
 * these mails in doubt. Slots are granted in the order of requests, so large and small runs take turns.
 */
export function createGate(size: number): Gate {
	let ahead = 0
	let answers = 0
	let since = performance.now()
	let enteredAt = -Infinity
	const unrecorded = { room: size * mostPerConnection }
	const opened = createPlaces({
		count: () => size + ahead,
		// Single slots would need as many statements.
		slice: () => Math.ceil(ahead / 2),
		others: unrecorded,
	})
	const connected = createSinglePlaces(size)

	function measure(mails: number) {
		answers += mails
		const ms = performance.now() - since
		if (ms < aheadMs) return
		ahead = Math.min(Math.floor((answers * aheadMs) / ms), size * (mostPerConnection - 1))
		answers = 0
		since = performance.now()
	}

	function recorded(_project: string, mails: number) {
		unrecorded.room += mails
		opened.serve()
	}

	return {
		enter(project, wanted) {
			enteredAt = performance.now()
			return opened.enter(project, wanted)
		},
		isInUse: () => performance.now() - enteredAt < momentMs,
		connection: (project) => connected.enter(project, 1),
		answered(project, mails) {
			measure(mails)
			connected.leave(project, mails)
			opened.leave(project, mails)
		},
		recorded,
		giveBack(project, slots) {
			opened.leave(project, slots)
			recorded(project, slots)
		},
	}
}

/** Places that are taken one by one. */
export const createSinglePlaces = (count: number) =>
	createPlaces({ count: () => count, slice: () => 1, others: { room: Infinity } })

export type Places = ReturnType<typeof createPlaces>

interface PlaceOptions {
	/** For all projects together. */
	count(): number
	/** So many are worth a short wait. */
	slice(): number
	/** Each grant takes from this too. Its owner refills it. */
	others: { room: number }
}

interface Waiting {
	project: string
	wanted: number
	least: number
	grant(places: number): void
}

/** Places for which projects wait in the order of their requests, each for its share at most. */
function createPlaces({ count, slice, others }: PlaceOptions) {
	let taken = 0
	const held = new Map<string, number>()
	let queue: Waiting[] = []

	function serve() {
		const most = Math.max(1, Math.floor(count() * shareOfOne))
		queue = queue.filter(({ project, wanted, least, grant }) => {
			const holding = held.get(project) ?? 0
			const places = Math.min(wanted, count() - taken, most - holding, others.room)
			if (places < least) return true
			taken += places
			others.room -= places
			held.set(project, holding + places)
			grant(places)
			return false
		})
	}

	function enter(project: string, wanted: number) {
		return new Promise<number>((grant) => {
			const least = Math.max(1, Math.min(wanted, slice()))
			const waiting = { project, wanted, least, grant }
			queue.push(waiting)
			serve()
			if (least > 1 && queue.includes(waiting)) setTimeout(takeAny, aheadMs, waiting)
		})
	}

	function takeAny(waiting: Waiting) {
		waiting.least = 1
		serve()
	}

	function leave(project: string, places: number) {
		const holding = (held.get(project) ?? 0) - places
		if (holding > 0) held.set(project, holding)
		else held.delete(project)
		taken -= places
		serve()
	}

	return { serve, enter, leave }
}
