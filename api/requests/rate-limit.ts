// Ours, not @fastify/rate-limit: exact over all processes without Redis, for one statement in 64 requests.

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { giveBackRate, leaseRate } from '../../db/budget.ts'
import { countByMinute, tooMany } from './minute-counts.ts'

/** The longest a process keeps unused leased requests. */
const holdMs = 200
/** How long "nothing left" is cached: another process may return some. */
const refusalMs = 100
const maxWish = 64

declare module 'fastify' {
	interface FastifyInstance {
		/** Counts more requests with a secret key: those that came in one. Throws if they are too many. */
		countRequests(request: FastifyRequest, count: number): Promise<void>
	}
}

interface Verdict {
	isAllowed: boolean
	remaining: number
	resetSeconds: number
}

interface Waiter {
	resolve(verdict: Verdict): void
	reject(error: unknown): void
}

/** One of a project's keys, or a session in it. */
interface Spender {
	projectId: string
	name: string
}

/** A spender's share of the current minute, held by this process. Times are of performance.now(). */
interface Lease {
	spender: Spender
	tokens: number
	/** The rest of the budget, without our tokens. */
	left: number
	windowStart: string
	endsAt: number
	refusesUntil: number
	wish: number
	granted: number
	waiting: Waiter[]
	isLeasing: boolean
	timer: NodeJS.Timeout | undefined
}

/**
 * At most `limit` requests per minute and spender, over all processes. Every request is taken from a
 * lease, and all leases from one row. A used-up lease makes the next one larger, so a busy spender costs
 * one statement per 64 requests; unused requests make it smaller again.
 */
function createRateLimiter(pool: Pool, limit: number) {
	const leases = new Map<string, Lease>()
	const givingBack = new Set<Promise<unknown>>()

	function take(spender: Spender): Verdict | Promise<Verdict> {
		const id = idOf(spender)
		const lease = leases.get(id) ?? newLease(spender)
		leases.set(id, lease)
		const now = performance.now()
		if (now >= lease.endsAt) lease.tokens = 0
		if (lease.tokens > 0 && lease.waiting.length === 0) {
			lease.tokens--
			return verdict(lease, true)
		}
		if (now < lease.refusesUntil) return verdict(lease, false)
		return new Promise((resolve, reject) => {
			lease.waiting.push({ resolve, reject })
			if (!lease.isLeasing) void refill(lease)
		})
	}

	/** All of them, or none. */
	async function takeMany(spender: Spender, count: number): Promise<Verdict | undefined> {
		const verdicts = await Promise.all(Array.from({ length: count }, async () => take(spender)))
		const refusal = verdicts.find(({ isAllowed }) => !isAllowed)
		const lease = leases.get(idOf(spender))
		// Its next rest returns them.
		if (refusal && lease && performance.now() < lease.endsAt)
			lease.tokens += verdicts.filter(({ isAllowed }) => isAllowed).length
		return refusal
	}

	async function refill(lease: Lease) {
		const { projectId, name } = lease.spender
		lease.isLeasing = true
		clearTimeout(lease.timer)
		try {
			while (lease.waiting.length > 0) {
				const askedAt = performance.now()
				const [row] = await leaseRate(pool, {
					projectId,
					limit,
					waiting: lease.waiting.length,
					wish: lease.wish,
					spender: name,
				})
				const { granted, leased, windowStart, msLeft } = row!
				// The window had at least this much time left when we asked, so it ends no earlier.
				lease.endsAt = askedAt + msLeft
				if (performance.now() >= lease.endsAt) continue
				Object.assign(lease, { tokens: granted, granted, windowStart, left: limit - leased })
				lease.wish = Math.min(maxWish, lease.wish * 2)
				for (const waiter of lease.waiting.splice(0, granted)) {
					lease.tokens--
					waiter.resolve(verdict(lease, true))
				}
				if (granted > 0) continue
				lease.refusesUntil = Math.min(performance.now() + refusalMs, lease.endsAt)
				for (const waiter of lease.waiting.splice(0)) waiter.resolve(verdict(lease, false))
			}
		} catch (error) {
			for (const waiter of lease.waiting.splice(0)) waiter.reject(error)
		} finally {
			lease.isLeasing = false
			lease.timer = setTimeout(() => rest(lease), holdMs).unref()
		}
	}

	/** Returns unused requests; an unused lease is forgotten. */
	function rest(lease: Lease) {
		if (lease.isLeasing) return
		clearTimeout(lease.timer)
		const { tokens, granted, windowStart, spender } = lease
		lease.wish = Math.max(1, granted - tokens)
		lease.granted = 0
		lease.tokens = 0
		if (tokens > 0 && performance.now() < lease.endsAt) {
			lease.left += tokens
			const done = giveBackRate(pool, {
				projectId: spender.projectId,
				windowStart,
				tokens,
				spender: spender.name,
			})
				.catch(() => {}) // these requests are lost for this minute, nothing else
				.finally(() => givingBack.delete(done))
			givingBack.add(done)
		}
		if (granted === tokens) leases.delete(idOf(spender))
		else lease.timer = setTimeout(() => rest(lease), holdMs).unref()
	}

	async function close() {
		for (const lease of leases.values()) {
			rest(lease)
			clearTimeout(lease.timer)
		}
		await Promise.all(givingBack)
	}

	return { take, takeMany, close }
}

const idOf = ({ projectId, name }: Spender) => `${projectId} ${name}`

const newLease = (spender: Spender): Lease => ({
	spender,
	tokens: 0,
	left: 0,
	windowStart: '',
	endsAt: 0,
	refusesUntil: 0,
	wish: 1,
	granted: 0,
	waiting: [],
	isLeasing: false,
	timer: undefined,
})

const verdict = (lease: Lease, isAllowed: boolean): Verdict => ({
	isAllowed,
	remaining: lease.left + lease.tokens,
	resetSeconds: Math.max(1, Math.ceil((lease.endsAt - performance.now()) / 1000)),
})

/**
 * Counts every request with a key or a session; 0 is no limit. The two keys of a project and each of its
 * sessions have separate budgets: the public key is in every page of a customer, and must not use up their
 * server's budget. Call it after `authenticate`.
 */
export function limitRate(app: FastifyInstance, pool: Pool, limit: number) {
	if (limit === 0) return app.decorate('countRequests', async () => {})
	const limiter = createRateLimiter(pool, limit)
	app.decorate('countRequests', async ({ caller }, count) => {
		const refusal = await limiter.takeMany({ projectId: caller!.id, name: 'secret' }, count)
		if (refusal) throw over(refusal.resetSeconds)
	})
	const ofSessions = countByMinute()
	app.addHook('onRequest', async (request, reply) => {
		const verdict = await verdictOn(request)
		if (!verdict) return
		const { isAllowed, remaining, resetSeconds } = verdict
		reply.header('ratelimit-limit', limit)
		reply.header('ratelimit-remaining', remaining)
		reply.header('ratelimit-reset', resetSeconds)
		if (!isAllowed) throw over(resetSeconds)
	})
	app.addHook('onClose', () => limiter.close())

	const over = (resetSeconds: number) =>
		tooMany(`More than ${limit} requests in this minute`, resetSeconds)

	function verdictOn({ caller, visitor, routeOptions }: FastifyRequest) {
		const sessionId = visitor?.user.sessionId
		const key = routeOptions.config.auth === 'public key' ? 'public' : 'secret'
		if (caller) return limiter.take({ projectId: caller.id, name: sessionId ?? key })
		// A session outside any project has no row in a project, so each process counts it alone.
		if (sessionId) return verdictOf(ofSessions.add(sessionId), ofSessions.secondsLeft())
		return undefined
	}

	const verdictOf = (count: number, resetSeconds: number): Verdict => ({
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		resetSeconds,
	})
}
