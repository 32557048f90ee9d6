import type { Readable } from 'node:stream'
import { takeTurn } from '../../db/event-loop.ts'
import { ApiError } from '../errors.ts'
import { gathered } from '../requests/gathering.ts'
import { readJson } from '../requests/json-scan.ts'

/** An answer is in memory as a whole, beside its JSON. */
const mostMegabytes = 32
/** Longer texts are cut before they are parsed. No tool shows as much of a text. */
const longest = 2 ** 15
/** This much is parsed at once. */
const mostAtOnce = 2 ** 16
/** Quotes that are passed without a pause. */
const quotesAtOnce = 512

/** Data in our answers was checked when it came. */
const limits = { maxDepth: 10_000, maxValues: Infinity, maxMembers: Infinity }

const [quote, backslash, letterU] = [0x22, 0x5c, 0x75]

/**
 * Reads the JSON of an answer with pauses, because a page of mails may have many megabytes. Long texts are
 * cut.
 */
export async function readAnswer(stream: Readable): Promise<unknown> {
	const bytes = await gathered(await chunksOf(stream))
	if (bytes.length === 0) return null
	if (bytes.length <= mostAtOnce) return JSON.parse(bytes.toString())
	const short = await gathered(await pacedly(withoutLongTexts(bytes)))
	return (await pacedly(readJson(short, limits))).value
}

async function chunksOf(stream: Readable) {
	const chunks: Buffer[] = []
	let bytes = 0
	// To its end in any case: the route waits for its reader, and gives back its room only then.
	for await (const chunk of stream as AsyncIterable<Buffer>) {
		bytes += chunk.length
		if (bytes <= mostMegabytes * 2 ** 20) chunks.push(chunk)
	}
	if (bytes > mostMegabytes * 2 ** 20) throw tooLarge()
	return chunks
}

const tooLarge = () =>
	new ApiError(
		400,
		'BAD_REQUEST',
		`The records that this call reads have more than ${mostMegabytes} MB together`,
		{ suggestion: 'Narrow the search, or ask for fewer records.' },
	)

/** Other work runs whenever the generator yields. */
async function pacedly<Result>(work: Generator<void, Result>) {
	for (;;) {
		const step = work.next()
		if (step.done) return step.value
		await takeTurn()
	}
}

/** The parts of the same JSON with long texts cut. */
function* withoutLongTexts(bytes: Buffer): Generator<void, Buffer[]> {
	const parts: Buffer[] = []
	let from = 0
	let texts = 0
	for (let start = bytes.indexOf(quote); start >= 0;) {
		if (++texts % quotesAtOnce === 0) yield
		const end = yield* endOfText(bytes, start)
		if (end - start > longest) {
			parts.push(bytes.subarray(from, cutOf(bytes, start)))
			from = end
		}
		start = bytes.indexOf(quote, end + 1)
	}
	return [...parts, bytes.subarray(from)]
}

/** The closing quote: the first one after an even number of backslashes. */
function* endOfText(bytes: Buffer, start: number): Generator<void, number> {
	let quotes = 0
	for (let at = bytes.indexOf(quote, start + 1); ; at = bytes.indexOf(quote, at + 1)) {
		let first = at
		while (bytes[first - 1] === backslash) first--
		if ((at - first) % 2 === 0) return at
		if (++quotes % quotesAtOnce === 0) yield
	}
}

/** Not within an escape, and not within a character. */
function cutOf(bytes: Buffer, start: number) {
	const most = start + longest
	let at = start + 1
	while (at < most) at += bytes[at] === backslash ? (bytes[at + 1] === letterU ? 6 : 2) : 1
	while ((bytes[at]! & 0xc0) === 0x80) at++
	return at
}
