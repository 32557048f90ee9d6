import { Resolver } from 'node:dns/promises'

// A resolver that has been quick is given a quarter of a second at first, then twice as long, up to two
// seconds: on a busy machine four tries are over before its answer is read.
const patience = { timeout: 2000, maxTimeout: 2000, tries: 6 }

/** null: nobody could say. */
type Answer<T> = T[] | null

/** What DNS says now of a name: what others keep for a while, we ask for again. */
export function createDns(servers: string[]) {
	const resolver = new Resolver(patience)
	if (servers.length > 0) resolver.setServers(servers)

	async function known<T>(records: Promise<T[]>): Promise<Answer<T>> {
		try {
			return await records
		} catch (error) {
			const { code } = error as { code?: string }
			return code === 'ENOTFOUND' || code === 'ENODATA' ? [] : null
		}
	}
	return {
		/** Each as one text, however it was cut into pieces. */
		txt: async (name: string) =>
			(await known(resolver.resolveTxt(name)))?.map((parts) => parts.join('')) ?? null,
		mx: (name: string) => known(resolver.resolveMx(name)),
		ipv4: (name: string) => known(resolver.resolve4(name)),
		ipv6: (name: string) => known(resolver.resolve6(name)),
	}
}

export type Dns = ReturnType<typeof createDns>
