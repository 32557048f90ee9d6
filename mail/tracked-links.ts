import { decodeEntities } from './text/entities.ts'
import { exceeded, renderLimits } from './render-limits.ts'
import { skipTag, tagsIn } from './text/tags.ts'
import type { TrackedUrls } from './tracked-urls.ts'

const ourPages = ['unsubscribe', 'subscribe', 'manage']

/**
 * Routes the mail's links through our redirect and adds our pixel at the end. One pass, even over broken
 * HTML; everything except the links' addresses stays exactly as it is.
 */
export function trackHtml(html: string, urls: TrackedUrls, publicUrl: string): string {
	const ours = ourPages.map((page) => `${publicUrl.replace(/\/+$/, '')}/${page}/`)
	let tracked = ''
	let written = 0
	let bodyEnd = html.length
	let links = 0

	for (const { begin, end, name, isClosing } of tagsIn(html, skipMarkup)) {
		if (isClosing) bodyEnd = name === 'body' ? begin : bodyEnd
		else if (isLink(name)) rewrite(begin, end)
	}
	return tracked + html.slice(written, bodyEnd) + pixel(urls.open) + html.slice(bodyEnd)

	function rewrite(begin: number, end: number) {
		const href = findHref(html.slice(begin, end))
		if (!href) return
		// Decoded as in browsers.
		const link = decodeEntities(href.value)
			.replaceAll(/[\t\r\n]/g, '')
			.trim()
		if (!isTrackable(link, ours)) return
		links += 1
		if (links > renderLimits().trackedLinks) throw exceeded('there are too many links')
		const url = urls.click(link)
		if (url === null) return
		tracked += `${html.slice(written, begin + href.begin)}"${url}"`
		written = begin + href.end
		// A link after `</body>` still belongs to the body, as in browsers.
		bodyEnd = html.length
	}
}

/** Word draws buttons for Outlook as VML shapes with a link. */
const isLink = (name: string) => name === 'a' || name === 'area' || name.startsWith('v:')

/**
 * Like `skipTag`, but enters conditional comments: Outlook shows their content as part of the mail. The
 * end, `<![endif]-->`, is skipped like any declaration.
 */
function skipMarkup(html: string, begin: number) {
	conditional.lastIndex = begin
	return conditional.test(html) ? conditional.lastIndex : skipTag(html, begin)
}

/** Excludes `<!--[if !mso]><!-->`, which hides nothing. */
const conditional = /<!--\[if[^\]>]*\]>(?!<!--|-->)/iy

const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>][^\s>]*))?/y

/** The value and position of a tag's first `href`, quotes included. */
function findHref(tag: string) {
	attribute.lastIndex = /^<[^\s/>]*/.exec(tag)![0].length
	for (let found = attribute.exec(tag); found; found = attribute.exec(tag)) {
		const [, name, value] = found
		if (name!.toLowerCase() !== 'href') continue
		if (value === undefined) return null
		const end = attribute.lastIndex
		const isQuoted = value[0] === '"' || value[0] === "'"
		return { value: isQuoted ? value.slice(1, -1) : value, begin: end - value.length, end }
	}
	return null
}

/** Only web links, except our own pages, which must work even with a broken signature. */
function isTrackable(link: string, ours: string[]) {
	if (!/^https?:\/\//i.test(link) || URL.parse(link) === null) return false
	return !ours.some((page) => link.startsWith(page))
}

const pixel = (url: string) =>
	`<img src="${url}" alt="" width="1" height="1" style="display:block;border:0;width:1px;height:1px">`
