import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { breakableBody } from './break-off.ts'

export interface ArrivalLimits {
	most: number
	mostBytes: number
	patienceMs: number
}

interface Arrival {
	request: FastifyRequest
	bytes: number
	breakOff: (error: ApiError) => void
	timer: NodeJS.Timeout
}

/**
 * Small request bodies that are arriving, with limits for their number and bytes. When the limit is reached,
 * a new body replaces the one that has been arriving longest. An active body arrives long before it would be
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
		const timer = setTimeout(() => giveUp(arrival), patienceMs).unref()
		const arrival = { request, bytes, breakOff: breakableBody(request, reply), timer }
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

	function giveUp({ request, breakOff }: Arrival) {
		leave(request)
		breakOff(tooSlow())
	}

	return { enter, leave }
}

export const tooSlow = () =>
	new ApiError(408, 'BAD_REQUEST', 'The request body did not come in time', {
		suggestion: 'Nothing was done. Send the request again, and its body at once.',
	})
