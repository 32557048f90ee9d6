import { TempostError } from './errors.ts'
import type { Route } from './route.ts'

/** As the service checks it. */
const printableAscii = /^[\x20-\x7e]{1,255}$/

export function checkedKey(key: string) {
	if (printableAscii.test(key)) return key
	throw new TempostError('BAD_REQUEST', 'The idempotency key is not valid', {
		suggestion: 'Use 1 to 255 printable ASCII characters, for example a UUID.',
	})
}

/** `fetch` would refuse them with the same error as if the service could not be reached. */
export function checkHeaders(headers: Record<string, string>, { access }: Route) {
	for (const [name, value] of Object.entries(headers))
		try {
			new Headers({ [name]: value })
		} catch (cause) {
			const key = access === 'public' ? 'public key' : 'secret key'
			const found = name === 'authorization' ? key : `header ${name}`
			throw new TempostError('BAD_REQUEST', `The ${found} is not valid`, {
				suggestion: 'Remove the characters that an HTTP header cannot have, such as “…”.',
				cause,
			})
		}
}
