import { isIP } from 'node:net'

/** An address, 32 or 128 zeros and ones. One of IPv6 may end like one of IPv4. */
export function bitsOf(address: string): string {
	if (isIP(address) === 4)
		return address
			.split('.')
			.map((part) => digits(part, 10, 8))
			.join('')
	const [head, tail] = address.split('::').map((half) =>
		half
			.split(':')
			.filter((part) => part !== '')
			.map((part) => (part.includes('.') ? bitsOf(part) : digits(part, 16, 16)))
			.join(''),
	)
	return tail === undefined ? head! : head! + tail.padStart(128 - head!.length, '0')
}

const digits = (part: string, base: number, length: number) =>
	Number.parseInt(part, base).toString(2).padStart(length, '0')
