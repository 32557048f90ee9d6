import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import type { Sized } from '../../db/sorted-list.ts'
import { createRoom, type RoomLimits } from './room.ts'

export interface PageLimits extends RoomLimits {
	/** Pages of no more than this are anybody's, at any time. */
	smallBytes: number
	/** So much is read, put into words and written before the next is read. */
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
	/** What is on it, in its order. */
	listed: Sized[]
	/** In the same order, without those that are gone by now. */
	read: (ids: string[]) => Promise<Item[]>
	answer: (items: Item[]) => Answer
}

/**
 * Answers pages of items that may have a megabyte each. A page of many such is never in memory as a
 * whole: it is read and written in batches, as fast as its reader takes them, and only so many readers
 * are served at a time. The others wait for a while.
 */
export function createPages(limits: PageLimits = defaults) {
	const take = createRoom(limits)

	return async function sendPage<Item, Answer>(
		reply: FastifyReply,
		{ listed, read, answer }: Page<Item, Answer>,
	): Promise<Answer> {
		const batches = inBatches(listed, limits.batchBytes)
		const bytes = listed.reduce((sum, item) => sum + item.bytes, 0)
		// While a batch is written, the next is made.
		if (bytes > limits.smallBytes) await hold(reply, Math.min(bytes, 2 * limits.batchBytes))
		if (batches.length < 2) return answer(await read(batches.flat()))
		const stream = Readable.from(written(reply, batches, read, answer))
		reply.raw.once('close', () => stream.destroy())
		// What it says is what the answer would be.
		return reply.type('application/json; charset=utf-8').send(stream) as Answer
	}

	/** Until the answer is with its reader, or he has left. */
	async function hold({ raw }: FastifyReply, bytes: number) {
		const giveBack = await take(bytes)
		if (raw.closed) giveBack()
		else raw.once('close', giveBack)
	}
}

/** The ids of as many items as come to no more than so many bytes, and of one in any case. */
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

/** The same text as of the whole answer at once: each batch is put into words as an answer of its own. */
async function* written<Item, Answer>(
	reply: FastifyReply,
	batches: string[][],
	read: (ids: string[]) => Promise<Item[]>,
	answer: (items: Item[]) => Answer,
) {
	const textOf = (items: Item[]) => reply.serialize(answer(items) as object) as string
	const empty = textOf([])
	const start = empty.indexOf('[]') + 1
	const end = empty.length - start
	yield empty.slice(0, start)
	let comma = ''
	for (const ids of batches) {
		const items = await read(ids)
		if (items.length === 0) continue
		yield comma + textOf(items).slice(start, -end)
		comma = ','
	}
	yield empty.slice(start)
}
