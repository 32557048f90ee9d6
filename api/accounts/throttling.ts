import { isIPv6 } from 'node:net'
import type { Pool, PoolClient } from 'pg'
import { type TryLimit, tryWithin } from '../../db/throttle.ts'
import { ApiError } from '../errors.ts'

/** Counts a try, or refuses it. */
export async function countTry(db: Pool | PoolClient, limit: TryLimit) {
	const waitSeconds = await tryWithin(db, limit)
	if (waitSeconds === null) return
	throw new ApiError(
		429,
		'RATE_LIMIT_EXCEEDED',
		`Too many attempts: at most ${limit.tries} are allowed in ${limit.seconds / 60} minutes`,
		{
			details: { retryAfter: waitSeconds },
			suggestion: 'Wait for the number of seconds in the Retry-After header.',
			retryAfterSeconds: waitSeconds,
		},
	)
}

/** Tries of one kind from one network, whichever accounts they concern. */
export const fromNetwork = (what: string, ip: string, tries = 50): TryLimit => ({
	what: `${what} from`,
	subject: networkOf(ip),
	tries,
	seconds: 15 * 60,
})

/** The network of an address: with IPv6 a customer has 2^64 addresses. */
export function networkOf(ip: string) {
	const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
	if (mapped || !isIPv6(ip)) return mapped?.[1] ?? ip
	const [before, after] = ip.split('%', 1)[0]!.split('::') as [string, string?]
	const groups = (part: string | undefined) => (part ? part.split(':') : [])
	const [start, end] = [groups(before), groups(after)]
	const zeros = after === undefined ? 0 : 8 - start.length - end.length
	const all = [...start, ...Array<string>(Math.max(0, zeros)).fill('0'), ...end]
	return `${all
		.slice(0, 4)
		.map((group) => Number.parseInt(group, 16).toString(16))
		.join(':')}::/64`
}
