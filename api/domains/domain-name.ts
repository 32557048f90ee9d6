import { domainToASCII } from 'node:url'
import { invalid } from '../errors.ts'

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/

/** As DNS has it: lower case, ASCII. */
export function domainName(given: string) {
	// What would be a path or a port in a URL is dropped without a word by the conversion.
	const name = /[/\\@:?#%\s]/.test(given.trim())
		? ''
		: domainToASCII(given.trim().replace(/\.$/, '')).toLowerCase()
	const labels = name.split('.')
	const isName =
		name.length <= 253 &&
		labels.length > 1 &&
		labels.every((part) => label.test(part)) &&
		!/^\d+$/.test(labels.at(-1)!)
	if (isName) return name
	throw invalid({
		field: 'domain',
		message: 'must be a domain name, as example.com or mail.example.com',
		code: 'invalid_string',
	})
}
