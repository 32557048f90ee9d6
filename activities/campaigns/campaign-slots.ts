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
 * Limits the campaign mails that a process has claimed and not recorded yet. If the worker is killed, all
 * of them are in doubt. Lanes get slots in the order of their requests, and none during a rest for single mails.
 */
export function createCampaignSlots(
	connections: number,
	singlesPass: () => boolean,
): CampaignSlots {
	const fewest = fewestPerConnection * connections
	const most = mostPerConnection * connections
	const queue: { wanted: number; grant: (slots: number) => void }[] = []
	let size = fewest
	let held = 0
	let done = 0
	let since = performance.now()

	const isRestDue = createRest(singlesPass, serve)
	const slice = () => Math.ceil(size * sliceShare)

	function serve() {
		for (let next = queue[0]; next && !isRestDue(); next = queue[0]) {
			const slots = Math.min(next.wanted, 2 * slice(), size - held)
			if (slots < Math.min(next.wanted, slice())) return
			queue.shift()
			held += slots
			next.grant(slots)
		}
	}

	function measure(mails: number) {
		done += mails
		const ms = performance.now() - since
		if (ms < ledgerMs) return
		const fitting = fewest + (done * ledgerMs) / ms
		size = Math.round(Math.min(most, size * 1.5, (size + fitting) / 2))
		done = 0
		since = performance.now()
	}

	return {
		slice,
		enter: (_project, wanted) =>
			new Promise((grant) => {
				queue.push({ wanted, grant })
				serve()
			}),
		giveBack(_project, slots) {
			held -= slots
			serve()
		},
		answered() {},
		recorded(mails) {
			held -= mails
			measure(mails)
			serve()
		},
	}
}
