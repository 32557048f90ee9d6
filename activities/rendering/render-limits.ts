/** What one rendering may take. A unit of memory is a character or a place in a list, some ten bytes. */
interface RenderLimits {
	renderMs: number
	memory: number
	/** For one list or text: growing to the whole limit, a list would take seconds and most of a heap. */
	longestPiece: number
	/** Of a body beyond its template's own length, and so of whatever could be printed into it. */
	outputLength: number
	sourceLength: number
	/** The part of a source that takes time to parse. */
	tagsLength: number
	/** Of a body that is laid out, tracked and written as text. */
	composedLength: number
	/** Each is signed. */
	trackedLinks: number
	/** Of a mail that is encoded, with its attachments. */
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

/** On the event loop: all of these together take some 20 ms. What needs more runs on a thread. */
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

/** Work that needs more than it gets on the event loop. */
export class Overrun extends Error {}

/** Those of the rendering under way. */
export const renderLimits = () => limits

/** The error of a limit that was reached. */
export function exceeded(message: string) {
	isOverrun ||= limits === brief
	return new Error(message)
}

/** What is rendered from here on is of no use any more. */
export const isInVain = () => isOverrun

/** Work within what an event loop can bear; throws an Overrun where that is not enough. */
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
