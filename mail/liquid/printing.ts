import { Drop, toValue } from 'liquidjs'

export type TemplateKind = 'body' | 'subject'

/** The printed form of a value: lists as items or with commas, and nothing for missing values. */
export function asText(
	value: unknown,
	kind: TemplateKind,
	escape = (text: string) => text,
): string {
	const plain: unknown = toValue(value)
	if (plain === null || plain === undefined) return ''
	if (Array.isArray(plain)) {
		return kind === 'subject'
			? plain.map((item) => asText(item, 'subject')).join(', ')
			: plain.map((item) => `<li>${escape(asText(item, 'subject'))}</li>`).join('')
	}
	if (plain instanceof Drop) return ''
	// Variables come from JSON, so only a string, a number or a boolean remains.
	return escape(typeof plain === 'object' ? JSON.stringify(plain) : `${plain as string | number}`)
}

export function escapeBody(value: unknown): string {
	return isMarkup(value) ? value.html : asText(value, 'body', escapeHtml)
}

const entities = new Map([
	['&', '&amp;'],
	['<', '&lt;'],
	['>', '&gt;'],
	['"', '&quot;'],
	["'", '&#39;'],
])
/** By character code. Empty: the character stays. */
const entitiesByCode = Array.from(
	{ length: 128 },
	(_, code) => entities.get(String.fromCharCode(code)) ?? '',
)

/** In a loop: to replace by a pattern takes twice as long. A text may contain nothing else. */
export function escapeHtml(text: string): string {
	if (!/[&<>"']/.test(text)) return text
	let escaped = ''
	let from = 0
	for (let at = 0; at < text.length; at += 1) {
		const code = text.charCodeAt(at)
		const entity = code < entitiesByCode.length && entitiesByCode[code]
		if (!entity) continue
		escaped += text.slice(from, at) + entity
		from = at + 1
	}
	return escaped + text.slice(from)
}

interface Markup extends Drop {
	html: string
}

/** Text that is already HTML. For filters and comparisons it is an ordinary string. */
export function markup(html: string): Markup {
	return Object.assign(Object.create(Drop.prototype) as Drop, {
		html,
		length: html.length,
		valueOf: () => html,
		toJSON: () => html,
	})
}

export function isMarkup(value: unknown): value is Markup {
	return value instanceof Drop && typeof value.html === 'string'
}
