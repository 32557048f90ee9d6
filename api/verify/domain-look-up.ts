import type { MxRecord } from 'node:dns'
import { Resolver } from 'node:dns/promises'

/** null: unknown. */
export interface DomainFacts {
	exists: boolean | null
	hasMx: boolean | null
	hasWebsite: boolean | null
	/** Why something is unknown. */
	fault: string | null
}

/** The time for all look-ups of an address, with some room for the rest of the request. */
const patienceMs = 2800
const tryMs = 1200
const cacheMs = { found: 300_000, lacking: 60_000, failed: 5_000 }
const maxCached = 10_000

/**
 * Looks up in DNS whether a domain can receive mail. It always answers within the time limit, and
 * requests for the same domain at the same time share one lookup.
 */
export function createDomainLookUp(servers: string[]) {
	const cache = new Map<string, { facts: Promise<DomainFacts>; until: number }>()
	newResolver(servers) // a setting that is not a list of addresses stops the start, not a request

	return (domain: string) => {
		const cached = cache.get(domain)
		if (cached && cached.until > performance.now()) return cached.facts
		const entry = { facts: ask(domain, newResolver(servers)), until: Infinity }
		cache.delete(domain)
		cache.set(domain, entry)
		for (const oldest of cache.keys()) {
			if (cache.size <= maxCached) break
			cache.delete(oldest)
		}
		void entry.facts.then(({ exists, hasMx, fault }) => {
			const age = fault ? cacheMs.failed : exists && hasMx ? cacheMs.found : cacheMs.lacking
			entry.until = performance.now() + age
		})
		return entry.facts
	}
}

function newResolver(servers: string[]) {
	const resolver = new Resolver({ timeout: tryMs, tries: 2 })
	if (servers.length > 0) resolver.setServers(servers)
	return resolver
}

async function ask(domain: string, resolver: Resolver): Promise<DomainFacts> {
	const faults: string[] = []
	const deadline = setTimeout(() => resolver.cancel(), patienceMs)
	/** Whether there are such records; null if unknown. */
	const known = async <T>(records: Promise<T[]>, counts: (record: T) => boolean = () => true) =>
		records.then(
			(found) => found.some(counts),
			({ code = 'failure' }: { code?: string }) => {
				if (code === 'ENOTFOUND' || code === 'ENODATA') return false
				faults.push(code)
				return null
			},
		)
	const [exists, hasMx, a, aaaa] = await Promise.all([
		known(nameServers(domain, resolver)),
		known(resolver.resolveMx(domain), takesMail),
		known(resolver.resolve4(domain)),
		known(resolver.resolve6(domain)),
	])
	clearTimeout(deadline)
	const hasWebsite = a || aaaa ? true : a === null || aaaa === null ? null : false
	return { exists, hasMx, hasWebsite, fault: faults[0] ? wording(faults[0]) : null }
}

/** A name within a zone has no name servers of its own: those of the zone above apply. */
async function nameServers(domain: string, resolver: Resolver): Promise<string[]> {
	try {
		return await resolver.resolveNs(domain)
	} catch (error) {
		const parent = domain.slice(domain.indexOf('.') + 1)
		if ((error as { code?: string }).code !== 'ENODATA' || !parent.includes('.')) throw error
		return nameServers(parent, resolver)
	}
}

/** RFC 7505: a single MX with an empty name says that the domain accepts no mail. */
const takesMail = ({ exchange }: MxRecord) => exchange !== '' && exchange !== '.'

const wording = (code: string) =>
	code === 'ETIMEOUT' || code === 'ECANCELLED'
		? 'no answer in time'
		: code === 'ECONNREFUSED'
			? 'no resolver can be reached'
			: code === 'ESERVFAIL'
				? 'its name servers failed'
				: `resolver says ${code}`
