import { isIPv4, isIPv6 } from 'node:net'

// Addresses that a customer's URL must not reach: our own network, and addresses that are not assigned.
// From the registries of special-purpose addresses (RFC 6890 and its successors).

const blocked4 = ranges(bytes4, [
	['0.0.0.0', 8], // this network
	['10.0.0.0', 8],
	['100.64.0.0', 10], // carrier-grade NAT
	['127.0.0.0', 8],
	['169.254.0.0', 16], // link-local, cloud metadata
	['172.16.0.0', 12],
	['192.0.0.0', 24],
	['192.0.2.0', 24], // documentation
	['192.88.99.0', 24], // 6to4 relays
	['192.168.0.0', 16],
	['198.18.0.0', 15], // benchmarks
	['198.51.100.0', 24],
	['203.0.113.0', 24],
	['224.0.0.0', 4], // multicast
	['240.0.0.0', 4], // reserved, broadcast
])

/** Only these IPv6 addresses are public; all others are local, reserved or embedded. */
const global6 = ranges(bytes6, [['2000::', 3]])
const blocked6 = ranges(bytes6, [
	['2001::', 23], // Teredo, ORCHID, benchmarks
	['2001:db8::', 32], // documentation
	['3fff::', 20], // documentation
])
/** Prefixes that embed an IPv4 address, with its first byte. The embedded address decides. */
const embedding6 = ranges(bytes6, [
	['::ffff:0:0', 96, 12], // IPv4-mapped
	['64:ff9b::', 96, 12], // NAT64
	['2002::', 16, 2], // 6to4
])

/** Whether the address is on the public internet. An address that can't be parsed is not. */
export function isPublicAddress(address: string): boolean {
	if (isIPv4(address)) return isPublic4(bytes4(address))
	return isIPv6(address) && isPublic6(bytes6(address))
}

function isPublic4(bytes: number[]) {
	return !blocked4.some((range) => isWithin(bytes, range))
}

function isPublic6(bytes: number[]) {
	const embedding = embedding6.find((range) => isWithin(bytes, range))
	if (embedding) return isPublic4(bytes.slice(embedding.at, embedding.at + 4))
	return (
		global6.some((range) => isWithin(bytes, range)) &&
		!blocked6.some((range) => isWithin(bytes, range))
	)
}

interface Range {
	base: number[]
	bits: number
	/** Where an embedded address begins. */
	at: number
}

/** Read once: a customer's DNS may answer with thousands of addresses. */
function ranges(read: (address: string) => number[], all: [string, number, number?][]): Range[] {
	return all.map(([base, bits, at = 0]) => ({ base: read(base), bits, at }))
}

function isWithin(bytes: number[], { base, bits }: Range) {
	return base.every((byte, i) => {
		const mask = 0xff << Math.max(0, 8 - Math.max(0, bits - 8 * i))
		return ((byte ^ bytes[i]!) & mask & 0xff) === 0
	})
}

function bytes4(address: string) {
	return address.split('.').map(Number)
}

function bytes6(address: string) {
	const [text] = address.split('%') as [string]
	// The last 32 bits may be written as IPv4.
	const tail = /(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
	const plain = tail === undefined ? text : text.slice(0, -tail.length) + hexOf(bytes4(tail))
	const [head = '', rest] = plain.split('::')
	const before = head === '' ? [] : head.split(':')
	const after = rest === undefined || rest === '' ? [] : rest.split(':')
	const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
	return [...before, ...zeros, ...after].flatMap((group) => {
		const value = Number.parseInt(group, 16)
		return [value >> 8, value & 0xff]
	})
}

function hexOf([a, b, c, d]: number[]) {
	return `${((a! << 8) | b!).toString(16)}:${((c! << 8) | d!).toString(16)}`
}
