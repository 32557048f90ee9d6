import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { giveBackRate, leaseRate } from '../../db/budget.ts'
import { countByMinute, tooMany } from './minute-counts.ts'

/** Longest time for which a process sits on requests it has leased and does not use. */
const holdMs = 200
/** How long "nothing left" is believed: another process may give some back. */
const refusalMs = 100
const maxWish = 64

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

/** A spender's share, held by this process, of the current minute. Times are of performance.now(). */
interface Lease {
	spender: Spender
	tokens: number
	/** Of the budget, not counting our tokens. */
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
 * At most `limit` requests a minute and spender, over all processes: every request is taken from a
 * lease, and all leases from one row. Leases grow while they are used up, so that a busy spender
 * costs a statement for each 64 requests, and shrink again by what was not used.
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

	async function refill(lease: Lease) {
		const { projectId, name } = lease.spender
		lease.isLeasing = true
		clearTimeout(lease.timer)
		try {
			while (lease.waiting.length > 0) {
				const askedAt = performance.now()
				const [row] = await leaseRate(pool, [
					projectId,
					limit,
					lease.waiting.length,
					lease.wish,
					name,
				])
				const { granted, leased, windowStart, msLeft } = row!
				// The window began to run out no earlier than we asked, so it ends no earlier than this.
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

	/** What was leased and not used goes back; a lease that nobody used is forgotten. */
	function rest(lease: Lease) {
		if (lease.isLeasing) return
		clearTimeout(lease.timer)
		const { tokens, granted, windowStart, spender } = lease
		lease.wish = Math.max(1, granted - tokens)
		lease.granted = 0
		lease.tokens = 0
		if (tokens > 0 && performance.now() < lease.endsAt) {
			lease.left += tokens
			const done = giveBackRate(pool, [spender.projectId, windowStart, tokens, spender.name])
				.catch(() => {}) // the minute is short by these, no more
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

	return { take, close }
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
 * Counts every request that carries a key or a session; 0 is no limit. The two keys of a project and
 * each of its sessions have budgets of their own: the public key is in every page of a customer, and
 * must not use up what their server sends mail with. To be called after `authenticate`.
 */
export function limitRate(app: FastifyInstance, pool: Pool, limit: number) {
	if (limit === 0) return
	const limiter = createRateLimiter(pool, limit)
	const ofSessions = countByMinute()
	app.addHook('onRequest', async (request, reply) => {
		const verdict = await verdictOn(request)
		if (!verdict) return
		const { isAllowed, remaining, resetSeconds } = verdict
		reply.header('ratelimit-limit', limit)
		reply.header('ratelimit-remaining', remaining)
		reply.header('ratelimit-reset', resetSeconds)
		if (!isAllowed) throw tooMany(`More than ${limit} requests in this minute`, resetSeconds)
	})
	app.addHook('onClose', () => limiter.close())

	function verdictOn({ caller, visitor, routeOptions }: FastifyRequest) {
		const sessionId = visitor?.user.sessionId
		const key = routeOptions.config.auth === 'public key' ? 'public' : 'secret'
		if (caller) return limiter.take({ projectId: caller.id, name: sessionId ?? key })
		// A session outside any project: no row of a project can count it, and each process does.
		if (sessionId) return verdictOf(ofSessions.add(sessionId), ofSessions.secondsLeft())
		return undefined
	}

	const verdictOf = (count: number, resetSeconds: number): Verdict => ({
		isAllowed: count <= limit,
		remaining: Math.max(0, limit - count),
		resetSeconds,
	})
}
