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
	/** How many listen for errors while nobody reads the body. */
	idle: number
	timer: NodeJS.Timeout
}

/**
 * Request bodies that are arriving, with limits for their number and bytes. When the limit is reached, a
 * new body replaces the one that has been arriving longest. An active body arrives long before it would be
 * the oldest, so stalled bodies can't block others, however many there are.
 */
export function watchArrivals({ most, mostBytes, patienceMs }: ArrivalLimits) {
	/** In order of arrival. */
	const arrivals = new Map<FastifyRequest, Arrival>()
	let arrivingBytes = 0

	function enter(request: FastifyRequest, reply: FastifyReply, bytes: number) {
		for (const longest of arrivals.values()) {
			if (arrivals.size < most && arrivingBytes + bytes <= mostBytes) break
			giveUp(longest)
		}
		// A body's reader handles its errors, but only while it reads.
		request.raw.on('error', ignore)
		const idle = request.raw.listenerCount('error')
		const timer = setTimeout(() => giveUp(arrival), patienceMs).unref()
		const arrival = { request, reply, bytes, idle, timer }
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

	/** For its reader, the body breaks off here, or as soon as it is read; the reader answers. */
	function giveUp({ request, reply, idle }: Arrival) {
		leave(request)
		reply.header('connection', 'close')
		const breakOff = () => request.raw.emit('error', tooSlow())
		if (request.raw.listenerCount('error') > idle) return void breakOff()
		// A form is read by its handler, which other work may delay.
		request.raw.on('newListener', function onReader(event: string | symbol) {
			if (event !== 'error') return
			request.raw.off('newListener', onReader)
			process.nextTick(breakOff)
		})
	}

	return { enter, leave }
}

const ignore = () => {}

const tooSlow = () =>
	new ApiError(408, 'BAD_REQUEST', 'The request body did not come in time', {
		suggestion: 'Nothing was done. Send the request again, and its body at once.',
	})
