import { decodeEntities } from './entities.ts'

/** The content of these elements is not markup. */
const opaque: ReadonlySet<string> = new Set([
	'script',
	'style',
	'title',
	'textarea',
	'xmp',
	'noembed',
	'iframe',
])

export function opensTag(html: string, at: number) {
	const next = html.charCodeAt(at + 1) | 32
	if (next >= 97 && next <= 122) return true
	const sign = html[at + 1]
	return sign === '!' || sign === '?' || (sign === '/' && /[a-z]/i.test(html[at + 2] ?? ''))
}

/**
 * Where the text continues after a tag or comment. If it never ends, it includes all the rest, as in
 * browsers.
 */
export function skipTag(html: string, begin: number) {
	if (html.startsWith('<!--', begin)) return after(html, '-->', begin + 4)
	if (html[begin + 1] === '!' || html[begin + 1] === '?') return after(html, '>', begin)
	for (let at = begin + 1; at < html.length; at++) {
		const sign = html.charCodeAt(at)
		if (sign === 62) return at + 1
		// A quote starts a value only after an equals sign; elsewhere it is a typing error.
		if ((sign === 34 || sign === 39) && followsEquals(html, at)) {
			at = html.indexOf(html[at]!, at + 1)
			if (at < 0) return html.length
		}
	}
	return html.length
}

/** The tags of a text in their order, without those inside of comments and elements whose content is not markup. */
export function* tagsIn(html: string, skip = skipTag) {
	for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
		const begin = at
		at = begin + 1
		if (!opensTag(html, begin)) continue
		at = skip(html, begin)
		const isClosing = html[begin + 1] === '/'
		const name = nameOf(html.slice(begin, Math.min(at, begin + 20)), isClosing ? 2 : 1)
		yield { begin, end: at, name, isClosing }
		if (!isClosing && opaque.has(name)) at = skipElement(html, name, at)
	}
}

function followsEquals(html: string, at: number) {
	const before = html[at - 1]
	return before === '=' || (before === ' ' && /=\s*$/.test(html.slice(Math.max(0, at - 8), at)))
}

export function nameOf(tag: string, begin: number) {
	let end = begin
	while (end < tag.length && !' \t\r\n\f/>'.includes(tag[end]!)) end++
	return tag.slice(begin, end).toLowerCase()
}

export function skipElement(html: string, name: string, begin: number) {
	const end = new RegExp(`</${name}[^>]*>?`, 'gi')
	end.lastIndex = begin
	return end.test(html) ? end.lastIndex : html.length
}

function after(html: string, sign: string, begin: number) {
	const found = html.indexOf(sign, begin)
	return found < 0 ? html.length : found + sign.length
}

export function isHidden(tag: string) {
	if (tag.length < 10 || !/hidden|display|-skip-/i.test(tag)) return false
	return (
		/\s(?:hidden|data-skip-in-text)[\s=/>]/i.test(tag) ||
		/display\s*:\s*none/i.test(attribute(tag, 'style'))
	)
}

const attributes = new Map(
	['alt', 'href', 'start', 'style'].map((name) => [
		name,
		new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, 'i'),
	]),
)

export function attribute(tag: string, name: 'alt' | 'href' | 'start' | 'style') {
	const found = attributes.get(name)!.exec(tag)
	return decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? '')
}
