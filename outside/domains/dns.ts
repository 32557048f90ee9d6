import { Resolver } from 'node:dns/promises'

// After quick answers the resolver starts with a quarter of a second and doubles it, up to two seconds. On
// a busy machine, four tries would be over before their answer is read.
const patience = { timeout: 2000, maxTimeout: 2000, tries: 6 }

/** The name or its records do not exist, or it cannot be a name. */
const hasNone = ['ENOTFOUND', 'ENODATA', 'EBADNAME']

/** null: the look-up failed. */
type Answer<T> = T[] | null

/** Looks names up in DNS without a cache. */
export function createDns(servers: string[]) {
	const resolver = new Resolver(patience)
	if (servers.length > 0) resolver.setServers(servers)

	async function known<T>(records: Promise<T[]>): Promise<Answer<T>> {
		try {
			return await records
		} catch (error) {
			const { code } = error as { code?: string }
			return hasNone.includes(code!) ? [] : null
		}
	}
	return {
		/** Each TXT record as one text, whatever its pieces. */
		txt: async (name: string) =>
			(await known(resolver.resolveTxt(name)))?.map((parts) => parts.join('')) ?? null,
		mx: (name: string) => known(resolver.resolveMx(name)),
		cname: (name: string) => known(resolver.resolveCname(name)),
		ipv4: (name: string) => known(resolver.resolve4(name)),
		ipv6: (name: string) => known(resolver.resolve6(name)),
	}
}

export type Dns = ReturnType<typeof createDns>
