import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'

export interface ArrivalLimits {
	most: number
	mostBytes: number
	patienceMs: number
}

interface Arrival {
	request: FastifyRequest
	reply: FastifyReply
	bytes: number
	timer: NodeJS.Timeout
}

/**
 * Bodies that are on their way, of so many bytes in all. Who comes when there is no room takes that of
 * the one that has been coming longest: bodies that are being sent are there long before it is their
 * turn, so that those that are not keep nobody out, however many there are.
 */
export function watchArrivals({ most, mostBytes, patienceMs }: ArrivalLimits) {
	/** In the order of their coming. */
	const arrivals = new Map<FastifyRequest, Arrival>()
	let arrivingBytes = 0

	function enter(request: FastifyRequest, reply: FastifyReply, bytes: number) {
		for (const longest of arrivals.values()) {
			if (arrivals.size < most && arrivingBytes + bytes <= mostBytes) break
			giveUp(longest)
		}
		// Whoever reads the body listens for its errors, but not before and not afterwards.
		request.raw.on('error', ignore)
		const timer = setTimeout(() => giveUp(arrival), patienceMs).unref()
		const arrival = { request, reply, bytes, timer }
		arrivals.set(request, arrival)
		arrivingBytes += bytes
	}

	function leave(request: FastifyRequest) {
		const arrival = arrivals.get(request)
		if (!arrival) return
		clearTimeout(arrival.timer)
		arrivals.delete(request)
		arrivingBytes -= arrival.bytes
	}

	/** To whoever reads it, the body breaks off here; the answer is theirs. */
	function giveUp({ request, reply }: Arrival) {
		leave(request)
		reply.header('connection', 'close')
		request.raw.emit('error', tooSlow())
	}

	return { enter, leave }
}

const ignore = () => {}

const tooSlow = () =>
	new ApiError(408, 'BAD_REQUEST', 'The request body did not come in time', {
		suggestion: 'Nothing was done. Send the request again, and its body at once.',
	})
