/** The limits of one rendering. A unit of memory is a character or an item of a list, some ten bytes. */
interface RenderLimits {
	renderMs: number
	memory: number
	/**
	 * The limit for one list or text. If one grew to the whole limit, it would take seconds and most of a
	 * heap.
	 */
	longestPiece: number
	/** The output beyond the template's own length, and so the limit for any printed value. */
	outputLength: number
	sourceLength: number
	/** The part of a source that takes time to parse. */
	tagsLength: number
	/** The length of a body that is laid out, tracked and converted to text. */
	composedLength: number
	/** Signing takes time for each. */
	trackedLinks: number
	/** The length of a mail that is encoded, with its attachments. */
	encodedLength: number
}

const whole: RenderLimits = {
	renderMs: 500,
	memory: 10_000_000,
	longestPiece: 1_000_000,
	outputLength: 10 * 1024 * 1024,
	sourceLength: 40 * 1024 * 1024,
	tagsLength: Infinity,
	composedLength: Infinity,
	trackedLinks: Infinity,
	encodedLength: Infinity,
}

/** On the event loop these limits together allow some 20 ms. Larger work runs on a thread. */
const brief: RenderLimits = {
	renderMs: 6,
	memory: 300_000,
	longestPiece: 100_000,
	outputLength: 64 * 1024,
	sourceLength: 128 * 1024,
	tagsLength: 8 * 1024,
	composedLength: 128 * 1024,
	trackedLinks: 300,
	encodedLength: 512 * 1024,
}

let limits = whole
let isOverrun = false

/** The work needs more than the event loop's limits allow. */
export class Overrun extends Error {}

/** The limits of the current rendering. */
export const renderLimits = () => limits

/** The error for a limit that was exceeded. */
export function exceeded(message: string) {
	isOverrun ||= limits === brief
	return new Error(message)
}

/** The rest of this rendering would be discarded. */
export const isInVain = () => isOverrun

/** Runs work within the event loop's limits. Throws an Overrun if they are exceeded. */
export function briefly<Result>(work: () => Result): Result {
	limits = brief
	try {
		const result = work()
		if (!isOverrun) return result
	} catch (error) {
		if (!isOverrun) throw error
	} finally {
		limits = whole
		isOverrun = false
	}
	throw new Overrun('This takes longer than the event loop can bear')
}
