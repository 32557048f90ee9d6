import { Drop, toValue } from 'liquidjs'

export type TemplateKind = 'body' | 'subject'

/** How a value prints: lists as items or with commas, nothing for what is not there. */
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
	// What is left can only be a string, a number or a boolean: variables come out of JSON.
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

/** Text that is HTML already. To filters and comparisons it is the string it holds. */
export function markup(html: string): Markup {
	return Object.assign(Object.create(Drop.prototype) as Drop, { html, valueOf: () => html })
}

export function isMarkup(value: unknown): value is Markup {
	return value instanceof Drop && typeof value.html === 'string'
}
