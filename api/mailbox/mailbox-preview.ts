import { escapeHtml } from '../../mail/liquid/printing.ts'
import type { ReadMail } from './mailbox-mail.ts'
import { withoutPixel } from './tracked-links.ts'

const emptyPicture =
	'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'
/** An image may be shown several times, but a small mail must not become a huge page. */
const timesShown = 8
const mostInlined = 64 * 2 ** 20

export interface Preview {
	pixel: boolean
}

/** The body for the frame: links open beside it, inline images come from the mail itself. */
export function previewOf(mail: ReadMail, { pixel }: Preview) {
	const base = '<base target="_blank">'
	const html = mail.html || `<pre style="white-space:pre-wrap">${escapeHtml(mail.text)}</pre>`
	const shown = pixel ? html : withoutPixel(html, emptyPicture)
	// Without `<` inside, which would take quadratic time.
	const head = /<head(?:\s[^<>]*)?>/i.exec(shown)
	const end = head ? head.index + head[0].length : 0
	return withImages(shown.slice(0, end) + base + shown.slice(end), mail.files)
}

/** References to files of the mail become their content. */
function withImages(html: string, files: ReadMail['files']) {
	const images = new Map(
		files
			.filter(({ contentId }) => contentId !== undefined)
			.toReversed() // of equal ids the first is shown
			.map((file) => [decoded(file.contentId!), addressOf(file)]),
	)
	const length = [...images.values()].reduce((sum, image) => sum + image.length, 0)
	let room = Math.min(timesShown * length, mostInlined)
	return html.replaceAll(/cid:([^"'\s>)]+)/g, (reference, id: string) => {
		const image = images.get(decoded(id))
		if (image === undefined || image.length > room) return reference
		room -= image.length
		return image
	})
}

const addressOf = ({ contentType, content }: ReadMail['files'][number]) =>
	`data:${contentType};base64,${content.toString('base64')}`

/** In a URL an id may be percent-encoded, even incorrectly. */
function decoded(id: string) {
	try {
		return decodeURIComponent(id)
	} catch {
		return id
	}
}
