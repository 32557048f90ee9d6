import { createElement } from 'react'
import { render } from 'react-email'
import { directionOf } from './language.ts'
import { Layout } from './layout-page.tsx'

/** Marks the place of the customer's HTML. */
const placeholder = '@content@'
const placeholderLanguage = 'xx-placeholder'
const maxCached = 100

// React renders only twice per process; each mail then costs two concatenations.
const pages = { ltr: await renderPage('ltr'), rtl: await renderPage('rtl') }
const wraps = new Map<string, { before: string; after: string }>()

/** Whether a body has a design of its own: a whole document, or tables, styles or classes. */
export function isDesigned(html: string): boolean {
	return (
		/<(?:!doctype|html|head|body|table|style)[\s/>]/i.test(html) ||
		/<[a-z][^<>]*\s(?:style|class)\s*=/i.test(html)
	)
}

/** Wraps a simple body in our layout. */
export function wrap(html: string, language: string): string {
	const { before, after } = wraps.get(language) ?? prepare(language)
	return before + html + after
}

function prepare(language: string) {
	const page = pages[directionOf(language)].replaceAll(placeholderLanguage, language)
	const [before = '', after = ''] = page.split(placeholder)
	// Languages come from contacts' data, so the cache needs a limit.
	if (wraps.size >= maxCached) wraps.clear()
	wraps.set(language, { before, after })
	return { before, after }
}

async function renderPage(direction: 'ltr' | 'rtl') {
	const page = await render(
		createElement(Layout, { language: placeholderLanguage, direction, children: placeholder }),
	)
	// Only React needs its markers.
	return page.replaceAll(/<!--[^>]*-->/g, '').replace(/^<!DOCTYPE[^>]*>/, '<!DOCTYPE html>')
}
