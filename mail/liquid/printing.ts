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

const entities: Record<string, string> = {
	'&': '&amp;',
	'<': '&lt;',
	'>': '&gt;',
	'"': '&quot;',
	"'": '&#39;',
}

export function escapeHtml(text: string): string {
	return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (sign) => entities[sign]!) : text
}

interface Markup extends Drop {
	html: string
}

/** Text that is already HTML. For filters and comparisons it is an ordinary string. */
export function markup(html: string): Markup {
	return Object.assign(Object.create(Drop.prototype) as Drop, { html, valueOf: () => html })
}

export function isMarkup(value: unknown): value is Markup {
	return value instanceof Drop && typeof value.html === 'string'
}
