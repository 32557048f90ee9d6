import { domainToASCII } from 'node:url'
import { invalid } from '../errors.ts'

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** The form in DNS: lower case, ASCII. */
export function domainName(given: string) {
	const text = given.trim()
	// The conversion silently drops a path or a port, and takes long for long text.
	const isOdd = text.length > 1000 || /[/\\@:?#%\s]/.test(text)
	const name = isOdd ? '' : domainToASCII(text.replace(/\.$/, '')).toLowerCase()
	const labels = name.split('.')
	const isName =
		name.length <= 253 &&
		labels.length > 1 &&
		labels.every((part) => label.test(part)) &&
		!/^\d+$/.test(labels.at(-1)!)
	if (isName) return name
	throw invalid({
		field: 'domain',
		message: 'must be a domain name such as example.com or mail.example.com',
		code: 'invalid_string',
	})
}
