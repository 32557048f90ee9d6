import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import type { Sized } from '../../db/sorted-list.ts'
import { piecesOf } from './pieces.ts'
import { createRoom, type RoomLimits } from './room.ts'

export interface PageLimits extends RoomLimits {
	/** Pages up to this size are served without waiting. */
	smallBytes: number
	/** This much is read, serialised and written before more is read. */
	batchBytes: number
}

const defaults: PageLimits = {
	size: 32 * 2 ** 20,
	waiting: 50,
	patienceMs: 3000,
	smallBytes: 256 * 2 ** 10,
	batchBytes: 2 ** 20,
}

export type SendPage = ReturnType<typeof createPages>

interface Page<Item, Answer> {
	/** The items of the page, in order. */
	listed: Sized[]
	/** In the same order, without items that were deleted meanwhile. */
	read: (ids: string[]) => Promise<Item[]>
	answer: (items: Item[]) => Answer
}

/**
 * Answers pages of items that may have a megabyte each. Such a page is never in memory as a whole: it is
 * read and written in batches, as fast as its reader accepts them. Only a limited number of readers is
 * served at a time; others wait for a while.
 */
export function createPages(limits: PageLimits = defaults) {
	const take = createRoom(limits)

	return async function sendPage<Item, Answer>(
		reply: FastifyReply,
		{ listed, read, answer }: Page<Item, Answer>,
	): Promise<Answer> {
		const batches = inBatches(listed, limits.batchBytes)
		const bytes = listed.reduce((sum, item) => sum + item.bytes, 0)
		// While a batch is written, the next one is prepared.
		if (bytes > limits.smallBytes) await hold(reply, Math.min(bytes, 2 * limits.batchBytes))
		if (batches.length < 2) return answer(await read(batches.flat()))
		// The hooks, the stream and its pipe all listen, and so does `inject`: it is no leak.
		reply.raw.setMaxListeners(20)
		const stream = Readable.from(written(reply, batches, read, answer))
		reply.raw.once('close', () => stream.destroy())
		// The stream's content is the answer's.
		return reply.type('application/json; charset=utf-8').send(stream) as Answer
	}

	/** Holds the room until the reader has the whole answer, or has disconnected. */
	async function hold({ raw }: FastifyReply, bytes: number) {
		const giveBack = await take(bytes)
		if (raw.closed) giveBack()
		else raw.once('close', giveBack)
	}
}

/** The ids in batches of at most this many bytes, but of at least one item. */
function inBatches(listed: Sized[], most: number) {
	const batches: string[][] = []
	let bytes = Infinity
	for (const item of listed) {
		bytes += item.bytes
		if (bytes > most) {
			batches.push([])
			bytes = item.bytes
		}
		batches.at(-1)!.push(item.id)
	}
	return batches
}

/** Rows are read after the rows before them have been written. */
async function* written<Item, Answer>(
	reply: FastifyReply,
	batches: string[][],
	read: (ids: string[]) => Promise<Item[]>,
	answer: (items: Item[]) => Answer,
) {
	const rows = async function* () {
		for (const ids of batches) yield await read(ids)
	}
	yield* piecesOf(rows(), (items) => reply.serialize(answer(items) as object) as string)
}
