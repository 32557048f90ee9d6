/** The use of a column. The API leaves out a column without a name. */
export interface Target {
	kind: 'email' | 'subscribed' | 'data' | 'none'
	/** In the header that is sent. */
	name: string
}

export const leftOut: Target = { kind: 'none', name: '' }

/** Names that the API keeps for itself. */
const reserved = new Set([
	'id',
	'service_id',
	'service_email',
	'unsubscribeurl',
	'subscribeurl',
	'manageurl',
	'__proto__',
])

const addresses = new Set(['email', 'e-mail', 'mail', 'email address', 'e-mail address'])
const subscriptions = new Set(['subscribed', 'is subscribed', 'opt-in', 'optin'])

/** What a template can write as a variable. The name stays if contacts have it already. */
function variableOf(word: string, known: ReadonlySet<string>) {
	const name = word.replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_+|_+$/g, '')
	return known.has(word) || !/^\p{L}/u.test(name) ? word : name
}

/** The use of each column until the reader chooses another. `known`: the fields that contacts have. */
export function targetsFor(names: string[], known: ReadonlySet<string>): Target[] {
	const words = names.map((name) => name.toLowerCase())
	const emailAt = words.includes('email')
		? words.indexOf('email')
		: words.findIndex((word) => addresses.has(word))
	const subscribedAt = words.includes('subscribed')
		? words.indexOf('subscribed')
		: words.findIndex((word) => subscriptions.has(word))
	const fields = words.map((word) => variableOf(word, known))
	return words.map((word, at): Target => {
		if (at === emailAt) return { kind: 'email', name: 'email' }
		if (at === subscribedAt) return { kind: 'subscribed', name: 'subscribed' }
		const name = fields[at]!
		const isTaken = isKept(name) || fields.indexOf(name) < at
		return word === '' || isTaken ? leftOut : { kind: 'data', name }
	})
}

/** Why the columns can't be imported like this; undefined if they can. */
export function faultOf(targets: Target[]) {
	if (!targets.some(({ kind }) => kind === 'email')) return 'Choose the column with the addresses.'
	const names = targets.map(({ name }) => name).filter((name) => name !== '')
	const twice = names.find((name, at) => names.indexOf(name) < at)
	if (twice !== undefined) return `Two columns become ${twice}. Give one of them another name.`
	const isUnnamed = targets.some(({ kind, name }) => kind === 'data' && name === '')
	if (isUnnamed) return 'Give every field a name.'
	const own = targets.find(({ kind, name }) => kind === 'data' && isKept(name))
	return own && `The name ${own.name} is reserved. Choose another one.`
}

const isKept = (name: string) => reserved.has(name) || name === 'email' || name === 'subscribed'

/** Fields are written in lower case. */
export const fieldOf = (name: string): Target => ({
	kind: 'data',
	name: name.toLowerCase().trimStart().slice(0, 100),
})
