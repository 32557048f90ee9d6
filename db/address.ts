import { domainToASCII } from 'node:url'

const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const domainName = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/
const isAscii = /^[\x21-\x7e]*$/

/** A domain of more than 253 characters, or with a label of more than 63. */
const isTooLong = /^.{254}|[^.]{64}/su

/** The canonical form of an address: trimmed, lower-cased, an international domain in ASCII. */
export function normalizeEmail(address: string) {
	const trimmed = address.trim().toLowerCase()
	if (isAscii.test(trimmed)) return trimmed
	const at = trimmed.lastIndexOf('@')
	const domain = trimmed.slice(at + 1)
	// It is valid neither way, and the time of the conversion grows with the square of a label's length.
	if (isTooLong.test(domain)) return trimmed
	return trimmed.slice(0, at + 1) + domainToASCII(domain)
}

/**
 * Whether providers accept the address: a dot-atom before the @ and a domain name with a dot after it. RFC
 * 5322 allows more (quoted strings, comments, literals).
 */
export function isEmail(address: string) {
	if (address.length > 1000) return false
	const normal = normalizeEmail(address)
	const at = normal.lastIndexOf('@')
	const [local, domain] = [normal.slice(0, at), normal.slice(at + 1)]
	return (
		at > 0 &&
		normal.length <= 254 &&
		local.length <= 64 &&
		localPart.test(local) &&
		domainName.test(domain)
	)
}
