import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, overloaded } from '../errors.ts'
import { tooSlow } from './arrivals.ts'
import { breakableBody } from './break-off.ts'

export interface LargeBodyLimits {
	mostBytes: number
	/** A chunked body up to this size turns out to be a small one. */
	smallBytes: number
	/** How long a body may take for the next step. */
	patienceMs: number
}

interface LargeBody {
	request: FastifyRequest
	/** Its project. */
	owner: string
	/** Its size; 0: it is chunked, so nobody knows it yet. */
	announced: number
	arrived: number
	/** Its part of the room: at least what has arrived. */
	held: number
	breakOff: (error: ApiError) => void
	timer: NodeJS.Timeout
}

const stepBytes = 2 ** 16

/**
 * Room for large bodies, which they take in steps as they arrive and hold until their answer is complete. A
 * body that only announces its size takes no room from others. When the room is full, the body whose last
 * step is longest ago is given up: a caller must keep sending to hold it. No project may hold, or announce,
 * more than a third, because bodies that have arrived can't be given up.
 */
export function watchLargeBodies({ mostBytes, smallBytes, patienceMs }: LargeBodyLimits) {
	const bodies = new Map<FastifyRequest, LargeBody>()
	/** In order of their last steps. */
	const arriving = new Set<LargeBody>()
	const shares = new Map<string, number>()
	let heldBytes = 0
	let arrivedBytes = 0

	/** Call it before anyone reads the body. Returns the refusal if there is no room. */
	function enter(request: FastifyRequest, reply: FastifyReply, announced: number) {
		const owner = request.caller?.id ?? request.ip
		if (arrivedBytes + announced > mostBytes) return overloaded()
		if (!maySpend(owner, announced, 0)) return tooManyLarge()
		const body: LargeBody = {
			request,
			owner,
			announced,
			arrived: 0,
			held: 0,
			breakOff: breakableBody(request, reply),
			timer: setTimeout(() => giveUp(body, tooSlow()), patienceMs).unref(),
		}
		bodies.set(request, body)
		spend(owner, announced)
		const refusal = step(body)
		if (refusal) leave(request)
		else count(body)
		return refusal
	}

	/** Its reader is whoever listens for data first: a listener before it would take the data away. */
	function count(body: LargeBody) {
		const { raw } = body.request
		raw.once('end', () => settle(body))
		raw.on('newListener', function onReader(event: string | symbol) {
			if (event !== 'data') return
			raw.off('newListener', onReader)
			raw.on('data', (chunk: Buffer) => {
				if (arriving.has(body)) take(body, chunk.length)
			})
		})
	}

	function take(body: LargeBody, bytes: number) {
		body.arrived += bytes
		while (body.arrived > body.held) {
			const refusal = step(body)
			if (refusal) return giveUp(body, refusal)
		}
	}

	function step(body: LargeBody) {
		const { owner, announced, held } = body
		const isChunked = announced === 0
		if (isChunked && !maySpend(owner, stepBytes, held)) return tooManyLarge()
		for (const slowest of arriving) {
			if (heldBytes + stepBytes <= mostBytes) break
			if (slowest !== body) giveUp(slowest, overloaded())
		}
		if (heldBytes + stepBytes > mostBytes) return overloaded()
		if (isChunked) spend(owner, stepBytes)
		body.held += stepBytes
		heldBytes += stepBytes
		arriving.delete(body)
		arriving.add(body)
		body.timer.refresh()
		return undefined
	}

	/** It has arrived. */
	function settle(body: LargeBody) {
		if (!arriving.delete(body)) return
		clearTimeout(body.timer)
		arrivedBytes += body.held
		if (body.arrived <= smallBytes) leave(body.request)
	}

	function leave(request: FastifyRequest) {
		const body = bodies.get(request)
		if (!body) return
		const { owner, announced, held, timer } = body
		bodies.delete(request)
		clearTimeout(timer)
		if (!arriving.delete(body)) arrivedBytes -= held
		heldBytes -= held
		spend(owner, -(announced || held))
	}

	function giveUp({ request, breakOff }: LargeBody, error: ApiError) {
		leave(request)
		// The reader still takes the bytes that have just come.
		process.nextTick(breakOff, error)
	}

	/** Any project may have one body, whatever its size. */
	function maySpend(owner: string, bytes: number, own: number) {
		const spent = shares.get(owner) ?? 0
		return spent === own || spent + bytes <= mostBytes / 3
	}

	function spend(owner: string, bytes: number) {
		const spent = (shares.get(owner) ?? 0) + bytes
		if (spent > 0) shares.set(owner, spent)
		else shares.delete(owner)
	}

	return { enter, leave, has: (request: FastifyRequest) => bodies.has(request) }
}

const tooManyLarge = () =>
	new ApiError(
		429,
		'RATE_LIMIT_EXCEEDED',
		'Too many large requests of this project are under way',
		{
			retryAfterSeconds: 1,
			suggestion:
				'Nothing was done. Wait for the answers to earlier ones, and send the request again.',
		},
	)
