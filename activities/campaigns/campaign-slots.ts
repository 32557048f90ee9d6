import type { Slots } from '../delivery/slots.ts'
import { createRest } from './campaign-rest.ts'

/** Mails in hand for each connection: one being sent, one announced behind it, one that follows. */
const fewestPerConnection = 3
/** Allowance for claiming and recording: as many more mails as are handed over in this time. */
const ledgerMs = 100
const mostPerConnection = 40
/**
 * A slice of this share is claimed once there is room for it. Smaller slices would need too many
 * statements.
 */
const sliceShare = 1 / 3

export interface CampaignSlots extends Slots {
	/** The number of mails that justifies a statement. Unless fewer are wanted, no fewer are granted. */
	slice(): number
}

/**
 * While several projects send, each has this share of the fewest slots, and as many more as it needs at its pace. So a slow
 * template of one can't occupy all slots.
 */
const shareOfOne = 0.75

interface Waiting {
	project: string
	wanted: number
	grant(slots: number): void
}

/**
 * Limits the campaign mails that a process has claimed and not recorded yet. If the worker is killed, all
 * of them are in doubt. Lanes get slots in the order of their requests, and none during a rest for single mails.
 */
export function createCampaignSlots(
	connections: number,
	singlesPass: () => boolean,
): CampaignSlots {
	const fewest = fewestPerConnection * connections
	const most = mostPerConnection * connections
	const heldBy = new Map<string, number>()
	let queue: Waiting[] = []
	let size = fewest
	let held = 0
	/** The mails of each project that were recorded since the last look, and in `ledgerMs` before it. */
	let doneBy = new Map<string, number>()
	let paceOf = new Map<string, number>()
	let since = performance.now()

	const isRestDue = createRest(singlesPass, serve)
	const slice = () => Math.ceil(size * sliceShare)

	function serve() {
		// The first that has to wait for others' slots keeps those behind it waiting, or small requests would pass it again
		// and again. One that has to wait for slots of its own project does not.
		if (queue.length === 0) return
		let isFull = false
		const isAlone = isOneAlone()
		queue = queue.filter(({ project, wanted, grant }) => {
			if (isFull) return true
			const least = Math.min(wanted, slice())
			const ownRoom = (isAlone ? size : mostOf(project)) - (heldBy.get(project) ?? 0)
			if (ownRoom < least) return true
			isFull = size - held < least || isRestDue()
			if (isFull) return true
			const slots = Math.min(wanted, 2 * slice(), size - held, ownRoom)
			hold(project, slots)
			grant(slots)
			return false
		})
	}

	function isOneAlone() {
		const projects = new Set(heldBy.keys())
		for (const { project } of queue) projects.add(project)
		return projects.size === 1
	}

	const mostOf = (project: string) =>
		Math.max(slice(), Math.floor(fewest * shareOfOne + (paceOf.get(project) ?? 0)))

	function hold(project: string, slots: number) {
		const holding = (heldBy.get(project) ?? 0) + slots
		if (holding > 0) heldBy.set(project, holding)
		else heldBy.delete(project)
		held += slots
	}

	function measure(project: string, mails: number) {
		doneBy.set(project, (doneBy.get(project) ?? 0) + mails)
		const ms = performance.now() - since
		if (ms < ledgerMs) return
		paceOf = new Map([...doneBy].map(([one, done]) => [one, (done * ledgerMs) / ms]))
		const fitting = [...paceOf.values()].reduce((sum, pace) => sum + pace, fewest)
		size = Math.round(Math.min(most, size * 1.5, (size + fitting) / 2))
		doneBy = new Map()
		since = performance.now()
	}

	return {
		slice,
		enter: (project, wanted) =>
			new Promise((grant) => {
				queue.push({ project, wanted, grant })
				serve()
			}),
		giveBack(project, slots) {
			hold(project, -slots)
			serve()
		},
		answered() {},
		recorded(project, mails) {
			hold(project, -mails)
			measure(project, mails)
			serve()
		},
	}
}
