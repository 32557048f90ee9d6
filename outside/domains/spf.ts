import { isIP } from 'node:net'
import { bitsOf } from './address-bits.ts'
import type { Dns } from './dns.ts'

/** Receivers look up no more than ten names for a record, and no more than ten servers for `mx`. */
const mostLookUps = 10
/** Of one kind, for one name. Each takes microseconds, and an answer may hold thousands. */
const mostAddresses = 20

/** The addresses of a name; null in place of what DNS did not answer. */
type Found = (string | null)[]

/** Whether an SPF record of a domain lets a server send, as far as DNS answers. */
export interface SpfVerdict {
	/** Undefined: DNS did not answer, so the server may be allowed after all. */
	isAllowed: boolean | undefined
	/** The word that receivers read last, if only words after it allow the server. */
	lastHeeded?: string | undefined
}

/**
 * An SPF record may name the server, list its addresses or a range of them, allow everybody with +all, or name
 * hosts that have the server's address: those of the domain (`a`), of its mail (`mx`), or others.
 */
export async function spfVerdict(
	dns: Dns,
	record: { domain: string; text: string },
	host: string,
): Promise<SpfVerdict> {
	const words = record.text.toLowerCase().split(/\s+/)
	const heeded = heededWords(words)
	if (heeded.some((word) => allowsName(word, host))) return { isAllowed: true }
	const names = heeded.flatMap((word) => nameIn(word, record.domain) ?? []).slice(0, mostLookUps)
	const [own, ...named] = await Promise.all([addressesOf(host), ...names.map(lookUp)])
	const bits = own.filter((address) => address !== null).map(bitsOf)
	const isAllowed =
		heeded.some((word) => allowsAddress(word, bits)) ||
		named.some((found, index) => holdsAny(found, names[index]!, bits))
	if (isAllowed) return { isAllowed }
	if ([own, ...named].some((found) => found.includes(null))) return { isAllowed: undefined }
	const unread = words.slice(heeded.length)
	const isTooLate = unread.some((word) => allowsName(word, host) || allowsAddress(word, bits))
	return { isAllowed, lastHeeded: isTooLate ? heeded.at(-1) : undefined }

	async function lookUp({ mechanism, name }: NameInWord) {
		return mechanism === 'a' ? addressesOf(name) : mailAddressesOf(name)
	}

	async function addressesOf(name: string): Promise<Found> {
		if (isIP(name)) return [name]
		const both = await Promise.all([dns.ipv4(name), dns.ipv6(name)])
		return both.flatMap((addresses) => addresses?.slice(0, mostAddresses) ?? [null])
	}

	async function mailAddressesOf(name: string): Promise<Found> {
		const servers = await dns.mx(name)
		if (!servers) return [null]
		const first = servers.toSorted((a, b) => a.priority - b.priority).slice(0, mostLookUps)
		return (await Promise.all(first.map(({ exchange }) => addressesOf(exchange)))).flat()
	}
}

/** The words of an SPF record that receivers read: `all` is the last. */
function heededWords(words: string[]) {
	const last = words.findIndex((word) => /^[-+~?]?all$/.test(word))
	return last < 0 ? words : words.slice(0, last + 1)
}

/** Whether a word lets everybody or this name send. Names may end in a dot. */
function allowsName(word: string, host: string) {
	const [, mechanism, value = '', range = ''] = spfWord.exec(word) ?? []
	switch (mechanism) {
		case 'all':
			return value + range === ''
		case 'a':
			return isSameName(value, host)
		case 'include':
			return isSameName(value, host) && range === ''
		default:
			return false
	}
}

/** Whether a word is one of these addresses, or a range around it. */
function allowsAddress(word: string, bits: string[]) {
	const [, mechanism, value = '', range = ''] = spfWord.exec(word) ?? []
	return mechanism === `ip${isIP(value)}` && includesAny(bitsOf(value), range, bits)
}

const spfWord = /^\+?(all|a|mx|include|ip4|ip6)(?::([^/]+))?((?:\/{1,2}\d{1,3})*)$/

interface NameInWord {
	mechanism: 'a' | 'mx'
	name: string
	/** As in `/24`, for addresses of either kind. */
	ranges: { ipv4: string; ipv6: string }
}

/** The name that `a` or `mx` looks up. Without one it is the domain's own. */
function nameIn(word: string, domain: string): NameInWord | undefined {
	const [, mechanism, name = domain, range = ''] = spfWord.exec(word) ?? []
	if ((mechanism !== 'a' && mechanism !== 'mx') || isIP(name)) return undefined
	const ranges = /^(\/\d+)?(?:\/(\/\d+))?$/.exec(range)
	return ranges
		? { mechanism, name, ranges: { ipv4: ranges[1] ?? '', ipv6: ranges[2] ?? '' } }
		: undefined
}

const holdsAny = (found: Found, { ranges }: NameInWord, bits: string[]) =>
	found.some(
		(address) =>
			address !== null &&
			includesAny(bitsOf(address), isIP(address) === 4 ? ranges.ipv4 : ranges.ipv6, bits),
	)

const isSameName = (a: string, b: string) => a.replace(/\.$/, '') === b.replace(/\.$/, '')

function includesAny(network: string, range: string, addresses: string[]) {
	const length = range === '' ? network.length : Number(range.slice(1))
	if (!(length <= network.length)) return false
	const begin = network.slice(0, length)
	return addresses.some((bits) => bits.length === network.length && bits.startsWith(begin))
}
