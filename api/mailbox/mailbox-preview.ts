import { escapeHtml } from '../../mail/liquid/printing.ts'
import type { ReadMail } from './mailbox-mail.ts'

/**
 * A tracking pixel's address, recognised by its form, because the mail may be older than the current
 * PUBLIC_URL.
 */
const pixelUrl = /https?:\/\/[^\s"'<>]+\/o\/[\w-]{43,64}\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g
const clickUrl = /https?:\/\/[^\s"'<>]+\/c\/[\w-]{43,64}\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/
const emptyPicture =
	'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7'

export const isOpenTracked = ({ html }: Pick<ReadMail, 'html'>) => html.search(pixelUrl) >= 0
export const isClickTracked = ({ html }: Pick<ReadMail, 'html'>) => clickUrl.test(html)

export interface Preview {
	pixel: boolean
}

/** The body for the frame: links open beside it, inline images come from the mail itself. */
export function previewOf(mail: ReadMail, { pixel }: Preview) {
	const base = '<base target="_blank">'
	const html = mail.html || `<pre style="white-space:pre-wrap">${escapeHtml(mail.text)}</pre>`
	const shown = pixel ? html : html.replaceAll(pixelUrl, emptyPicture)
	const based = /<head[\s>]/i.test(shown)
		? shown.replace(/<head(\s[^>]*)?>/i, (head) => head + base)
		: base + shown
	return based.replaceAll(/cid:([^"'\s>)]+)/g, (reference, id: string) => {
		const file = mail.files.find(
			({ contentId }) => contentId !== undefined && isSameId(contentId, id),
		)
		return file ? `data:${file.contentType};base64,${file.content.toString('base64')}` : reference
	})
}

/** In a URL an id may be percent-encoded, even incorrectly. */
function isSameId(contentId: string, inUrl: string) {
	try {
		return contentId === inUrl || decodeURIComponent(contentId) === decodeURIComponent(inUrl)
	} catch {
		return false
	}
}
