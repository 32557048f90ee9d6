import type { Socket } from 'node:net'
import { isTurnOver, takeTurn } from '../../db/event-loop.ts'

/** Hundreds of the smallest parts of an answer: some milliseconds of work. */
const pieceBytes = 4096

const paced = new WeakSet<Socket>()

/**
 * Makes a socket hand on what it receives in small pieces, and none while this turn of the event loop has used its
 * time. Node would handle all that has arrived at once: of an answer in tiny parts, tens of thousands of them.
 */
export function paceReading(socket: Socket) {
	if (paced.has(socket)) return
	paced.add(socket)
	/** Null: the end. */
	const waiting: (Buffer | null)[] = []
	let isPassing = false
	/** Whether the reader has room, as it said last. */
	let hasRoom = true
	let isMoreWanted = false
	const push = socket.push.bind(socket)
	const readMore = socket._read.bind(socket)

	socket.push = (chunk: Buffer | null) => {
		waiting.push(...(chunk === null ? [null] : piecesOf(chunk)))
		if (!isPassing) void pass()
		return waiting.length === 0 && hasRoom
	}
	// Otherwise all that a server sends would gather here.
	socket._read = (size) => {
		if (waiting.length === 0) readMore(size)
		else isMoreWanted = true
	}

	async function pass() {
		isPassing = true
		while (waiting.length > 0) {
			if (isTurnOver()) await takeTurn()
			if (socket.destroyed) break
			const piece = waiting.shift()!
			hasRoom = push(piece)
			if (piece === null) socket.read(0)
		}
		isPassing = false
		if (isMoreWanted && !socket.destroyed) {
			isMoreWanted = false
			readMore(pieceBytes)
		}
	}
}

function* piecesOf(chunk: Buffer) {
	for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes)
}
