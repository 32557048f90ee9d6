import type { FastifyReply } from 'fastify'

export interface DepartureLimits {
	most: number
	mostBytes: number
	patienceMs: number
}

interface Departure {
	reply: FastifyReply
	bytes: number
	/** The bytes of the connection that the reader had received at the last look. */
	taken: number
}

/**
 * Answers on their way to readers, who may be slow or never read. They occupy no capacity for work. Beyond
 * a number or a size, the oldest answer is given up, and so is an answer that its reader has stopped
 * reading.
 */
export function watchDepartures({ most, mostBytes, patienceMs }: DepartureLimits) {
	/** In order of departure. */
	const departures = new Map<FastifyReply, Departure>()
	let departingBytes = 0
	const timer = setInterval(look, patienceMs).unref()

	function enter(reply: FastifyReply, bytes: number) {
		if (reply.raw.closed || departures.has(reply)) return
		for (const oldest of departures.values()) {
			if (departures.size < most && departingBytes + bytes <= mostBytes) break
			giveUp(oldest)
		}
		departures.set(reply, { reply, bytes, taken: -1 })
		departingBytes += bytes
		reply.raw.once('close', () => leave(reply))
	}

	function leave(reply: FastifyReply) {
		departingBytes -= departures.get(reply)?.bytes ?? 0
		departures.delete(reply)
	}

	function look() {
		for (const departure of departures.values()) {
			const { taken, waiting } = progressOf(departure.reply)
			if (waiting > 0 && taken === departure.taken) giveUp(departure)
			departure.taken = taken
		}
	}

	function giveUp({ reply }: Departure) {
		leave(reply)
		reply.raw.destroy()
	}

	return { enter, stop: () => clearInterval(timer) }
}

function progressOf({ raw }: FastifyReply) {
	const { bytesWritten = 0, writableLength = 0 } = raw.socket ?? {}
	return { taken: bytesWritten - writableLength, waiting: raw.writableLength + writableLength }
}
