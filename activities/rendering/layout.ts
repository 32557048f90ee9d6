import { createElement } from 'react'
import { render } from 'react-email'
import { directionOf } from './language.ts'
import { Layout } from './layout.tsx'

/** Stands where the customer's HTML is put. */
const placeholder = '@content@'
const placeholderLanguage = 'xx-placeholder'
const maxCached = 100

// React runs twice in a process's life; a mail costs two concatenations.
const pages = { ltr: await renderPage('ltr'), rtl: await renderPage('rtl') }
const wraps = new Map<string, { before: string; after: string }>()

/** Whether a body brings a design of its own: a whole document, or tables, styles or classes. */
export function isDesigned(html: string): boolean {
	return (
		/<(?:!doctype|html|head|body|table|style)[\s/>]/i.test(html) ||
		/<[a-z][^<>]*\s(?:style|class)\s*=/i.test(html)
	)
}

/** Puts a simple body into our layout. */
export function wrap(html: string, language: string): string {
	const { before, after } = wraps.get(language) ?? prepare(language)
	return before + html + after
}

function prepare(language: string) {
	const page = pages[directionOf(language)].replaceAll(placeholderLanguage, language)
	const [before = '', after = ''] = page.split(placeholder)
	// Languages come with contacts: whatever they are, there are not to be too many of them here.
	if (wraps.size >= maxCached) wraps.clear()
	wraps.set(language, { before, after })
	return { before, after }
}

async function renderPage(direction: 'ltr' | 'rtl') {
	const page = await render(
		createElement(Layout, { language: placeholderLanguage, direction, children: placeholder }),
	)
	// React's markers are of use only to React.
	return page.replaceAll(/<!--[^>]*-->/g, '').replace(/^<!DOCTYPE[^>]*>/, '<!DOCTYPE html>')
}
