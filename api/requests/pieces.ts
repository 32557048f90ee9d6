import type { FastifyInstance } from 'fastify'
import { takeTurn } from '../../db/event-loop.ts'
import { hasLongText, partsOf, withoutLongTexts } from '../../mail/json-parts.ts'
import { gathered } from './gathering.ts'
import { withPublicIds } from './project-ids.ts'

/** Items that are serialised without a pause, while their text is short. Each may have 64 KB of a customer's data. */
const itemsAtOnce = 4
const mostAtOnce = 2 ** 14

/**
 * Serialises answers a few items of their longest list at a time, and long texts in parts, so that neither
 * a page of a hundred large rows nor a large mail delays other requests. The text is the same as that of
 * serialising the whole answer at once.
 */
export function writeInPieces(app: FastifyInstance) {
	app.addHook('preSerialization', async ({ caller }, reply, payload: unknown) => {
		const [name, list] = longestList(payload)
		const isLong = list.length > itemsAtOnce || list.some(hasLongText)
		if (!isLong && !hasLongText(payload)) return payload
		const { short, partsOfText } = withoutLongTexts([payload])
		const serialize = (answer: unknown) => reply.serialize(answer as object) as string
		const whole = (items: unknown[]) =>
			name === null ? items : { ...(short[0] as object), [name]: items }
		const pieces = isLong
			? piecesOf([list], (items) => serialize(whole(items)))
			: [serialize(short[0])]
		const buffers: Buffer[] = []
		for await (const piece of pieces)
			for (const part of partsOfText(piece)) {
				await takeTurn()
				buffers.push(Buffer.from(withPublicIds(caller, part)))
			}
		const bytes = await gathered(buffers)
		reply.serializer(() => bytes as never)
		return payload
	})
}

/** The longest list and its name; null: the answer itself is the list. */
function longestList(payload: unknown): [name: string | null, list: unknown[]] {
	if (Array.isArray(payload)) return [null, payload]
	let longest: [string | null, unknown[]] = [null, []]
	for (const [name, value] of Object.entries(payload ?? {}))
		if (Array.isArray(value) && value.length > longest[1].length) longest = [name, value]
	return longest
}

/** `textOf` serialises some items as an answer of their own. */
export async function* piecesOf<Item>(
	batches: AsyncIterable<Item[]> | Iterable<Item[]>,
	textOf: (items: Item[]) => string,
) {
	const empty = textOf([])
	let begin = -1
	let count = 1
	for await (const batch of batches)
		for (let at = 0, items; at < batch.length; at += items.length) {
			await takeTurn()
			items = batch.slice(at, at + count)
			const isFirst = begin < 0
			yield* partsOf(items, (short) => {
				const text = textOf(short)
				if (isFirst) begin = firstDifference(text, empty)
				const written = text.slice(begin, text.length - (empty.length - begin))
				count = written.length > mostAtOnce ? 1 : itemsAtOnce
				return isFirst ? empty.slice(0, begin) + written : `,${written}`
			})
		}
	yield begin < 0 ? empty : empty.slice(begin)
}

/** The start of the list, which is empty in one text and has items in the other. */
function firstDifference(text: string, empty: string) {
	let at = 0
	while (text[at] === empty[at]) at++
	return at
}
