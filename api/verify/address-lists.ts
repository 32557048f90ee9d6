import providers from 'email-providers'
import mailchecker from 'mailchecker'

const disposable = mailchecker.blacklist()

/** Services that forward to a person's mailbox. No package lists them. */
const forwarding = new Set([
	'privaterelay.appleid.com', 'mozmail.com', 'relay.firefox.com', 'duck.com', 'simplelogin.com',
	'simplelogin.co', 'simplelogin.fr', 'simplelogin.io', 'aleeas.com', 'slmail.me', 'slmails.com',
	'8alias.com', '8shield.net', 'dralias.com', 'passmail.net', 'passmail.com', 'passinbox.com',
	'passfwd.com', 'anonaddy.com', 'anonaddy.me', 'addy.io', 'addymail.com', '33mail.com', 'erine.email',
]) // prettier-ignore

/** Reserved for documentation and tests: no mailbox exists. */
const examples = new Set(['example.com', 'example.net', 'example.org'])

/** A domain and those above it, without the top one. */
function upwards(domain: string) {
	const labels = domain.split('.')
	return labels.slice(0, -1).map((_, index) => labels.slice(index).join('.'))
}

// The packages' list of providers includes all disposable ones, too.
const personal = new Set(
	providers.filter((domain) => !disposable.has(domain) && !examples.has(domain)),
)

export const isForwarding = (domain: string) => upwards(domain).some((d) => forwarding.has(d))
export const isDisposable = (domain: string) =>
	!isForwarding(domain) && upwards(domain).some((d) => disposable.has(d))
export const isPersonal = (domain: string) => personal.has(domain)

/** The largest providers of personal mail. Shorter names are too close to other real names. */
const oftenMistyped = [
	'gmail.com', 'googlemail.com', 'yahoo.com', 'hotmail.com', 'outlook.com', 'icloud.com',
	'protonmail.com', 'proton.me', 'comcast.net', 'verizon.net', 't-online.de', 'freenet.de', 'orange.fr',
	'wanadoo.fr', 'laposte.net', 'libero.it', 'yandex.com', 'yandex.ru', 'rambler.ru', 'naver.com',
] // prettier-ignore

/** No such top-level domains exist. */
const mistypedEndings: Record<string, string> = {
	con: 'com', cmo: 'com', ocm: 'com', comm: 'com', vom: 'com', xom: 'com', coom: 'com',
	nte: 'net', nett: 'net', ogr: 'org', orgg: 'org',
} // prettier-ignore

/** The domain that was probably meant, if this one looks like a typing error. */
export function meantDomain(domain: string) {
	if (oftenMistyped.includes(domain)) return undefined
	const [label, ...ending] = split(domain)
	const meant = oftenMistyped.find((candidate) => {
		const [wanted, ...end] = split(candidate)
		if (label === wanted) return slips(ending.join('.'), end.join('.')) === 1
		if (isPersonal(domain) || label![0] !== wanted![0]) return false
		return slips(domain, candidate) <= (wanted!.length < 7 ? 1 : 2)
	})
	if (meant) return meant
	const top = mistypedEndings[ending.at(-1)!]
	return top && [label, ...ending.slice(0, -1), top].join('.')
}

const split = (domain: string) => domain.split('.')

/** The number of letters that were left out, added, replaced, or swapped with their neighbour. */
function slips(typed: string, meant: string) {
	const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_, j) => j)]
	for (let i = 1; i <= typed.length; i++) {
		const row = [i]
		for (let j = 1; j <= meant.length; j++) {
			const isSame = typed[i - 1] === meant[j - 1]
			const isSwap =
				i > 1 && j > 1 && typed[i - 1] === meant[j - 2] && typed[i - 2] === meant[j - 1]
			row[j] = Math.min(
				rows[i - 1]![j]! + 1,
				row[j - 1]! + 1,
				rows[i - 1]![j - 1]! + (isSame ? 0 : 1),
				isSwap ? rows[i - 2]![j - 2]! + 1 : Infinity,
			)
		}
		rows.push(row)
	}
	return rows[typed.length]![meant.length]!
}
