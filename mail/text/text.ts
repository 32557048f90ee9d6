// Ours, not html-to-text: 0.4 ms for 4 KB instead of 2.4 ms, and no stack overflow after 3.6 s of nested tags.

import { decodeEntities } from './entities.ts'
import { attribute, isHidden, nameOf, opensTag, skipElement, skipTag } from './tags.ts'
import { createTextWriter } from './text-writer.ts'

// The number of line breaks before and after an element.
const blocks = new Map<string, number>([
	...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre'].map(
		(name) => [name, 2] as const,
	),
	...['figure', 'form', 'fieldset', 'hr'].map((name) => [name, 2] as const),
	...['div', 'tr', 'li', 'dt', 'dd', 'section', 'article', 'header', 'footer', 'main', 'nav'].map(
		(name) => [name, 1] as const,
	),
	...['aside', 'address', 'center', 'body', 'figcaption', 'caption', 'option', 'legend'].map(
		(name) => [name, 1] as const,
	),
])

const voidElements = new Set(['br', 'img', 'hr', 'meta', 'link', 'input', 'col', 'area', 'wbr'])
// Their content is not markup, and people don't read it.
const unreadable = new Set(['script', 'style', 'title', 'textarea', 'template', 'svg', 'noembed'])

interface List {
	/** Null if items are not numbered. */
	next: number | null
}

/**
 * The readable text part of a mail, from one pass over possibly broken HTML. Nothing recurses and nothing
 * is read twice, so the cost of hostile input is linear in its length. `onLink` receives each link's text
 * and target.
 */
export function toText(html: string, onLink?: (text: string, url: string) => void): string {
	const writer = createTextWriter()
	const lists: List[] = []
	let quotes = 0
	let preformatted = 0
	let href: string | null = null
	let hidden: { name: string; depth: number } | null = null
	let at = 0
	let textBegin = 0

	while (at < html.length) {
		const begin = html.indexOf('<', at)
		if (begin < 0) break
		if (!opensTag(html, begin)) {
			at = begin + 1
			continue
		}
		writeText(begin)
		at = skipTag(html, begin)
		textBegin = at
		const sign = html[begin + 1]
		if (sign === '!' || sign === '?') continue
		const isClosing = sign === '/'
		const tag = html.slice(begin, at)
		const name = nameOf(tag, isClosing ? 2 : 1)
		if (hidden) trackHidden(name, isClosing)
		else if (isClosing) close(name)
		else if (unreadable.has(name)) {
			at = skipElement(html, name, at)
			textBegin = at
		} else if (isHidden(tag) && !voidElements.has(name)) hidden = { name, depth: 1 }
		else open(name, tag)
	}
	writeText(html.length)
	endLink()
	return writer.result()

	function writeText(end: number) {
		if (hidden || end <= textBegin) return
		const text = decodeEntities(html.slice(textBegin, end))
		if (preformatted > 0) writer.preformatted(text)
		else writer.flow(text)
	}

	function trackHidden(name: string, isClosing: boolean) {
		if (name !== hidden!.name) return
		hidden!.depth += isClosing ? -1 : 1
		if (hidden!.depth === 0) hidden = null
	}

	function open(name: string, tag: string) {
		if (name === 'br') return writer.lineBreak()
		if (name === 'img') return writer.flow(attribute(tag, 'alt'))
		if (name === 'td' || name === 'th') return writer.separate(' | ')
		if (name === 'a') {
			endLink()
			href = attribute(tag, 'href').trim()
			return writer.record()
		}
		const lines = blocks.get(name)
		if (lines === undefined) return
		// A list within a list starts no new paragraph.
		writer.breakLines(lists.length > 0 ? 1 : lines)
		if (name === 'ul') lists.push({ next: null })
		else if (name === 'ol') lists.push({ next: Number.parseInt(attribute(tag, 'start'), 10) || 1 })
		else if (name === 'li') openItem()
		else if (name === 'blockquote') writer.quote(++quotes)
		else if (name === 'pre') preformatted++
		else if (name === 'hr') {
			writer.flow('---')
			writer.breakLines(2)
		}
	}

	function close(name: string) {
		if (name === 'a') return endLink()
		const lines = blocks.get(name)
		if (lines === undefined) return
		if (name === 'ul' || name === 'ol') lists.pop()
		else if (name === 'blockquote') writer.quote((quotes = Math.max(0, quotes - 1)))
		else if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
		if (name === 'li' || name === 'ul' || name === 'ol') writer.openItem(0, '')
		writer.breakLines(lists.length > 0 ? 1 : lines)
	}

	function openItem() {
		const list = lists.at(-1)
		const mark = list?.next === null || !list ? '- ' : `${list.next++}. `
		writer.openItem(lists.length - 1, mark)
	}

	function endLink() {
		if (href === null) return
		const text = writer.recorded().trim()
		const url = decodeEntities(href)
		href = null
		onLink?.(text, url)
		if (!/^(?:https?|mailto|tel):/i.test(url)) return
		const shown = url.replace(/^(?:mailto|tel):/i, '')
		if (text === '') writer.flow(` ${shown}`)
		else if (!isSameLink(text, shown)) writer.flow(` (${shown})`)
	}
}

const isSameLink = (text: string, url: string) => bareLink(text) === bareLink(url)

/** A link in the form in which people write addresses. */
export const bareLink = (link: string) =>
	link
		.replace(/^https?:\/\//i, '')
		.replace(/\/$/, '')
		.toLowerCase()
