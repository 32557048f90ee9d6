import type { Links } from '../liquid/variables.ts'

export type MailType = 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'

export interface ListHeadersInput {
	type: MailType
	isCampaign: boolean
	/** The rendered body, before our additions. */
	html: string
	/** Null: the reader is no contact, so there is nothing to unsubscribe from. */
	links: Pick<Links, 'unsubscribeUrl' | 'manageUrl'> | null
}

/** RFC 8058's one-click headers, if there is something to unsubscribe from, and the bulk headers. */
export function listHeaders(mail: ListHeadersInput): Record<string, string> {
	const isMarketing = mail.type === 'MARKETING'
	const headers: Record<string, string> = {}
	const { html, links } = mail
	if (
		links &&
		(isMarketing || [links.unsubscribeUrl, links.manageUrl].some((url) => leadsTo(html, url)))
	) {
		headers['List-Unsubscribe'] = `<${links.unsubscribeUrl}>`
		headers['List-Unsubscribe-Post'] = 'List-Unsubscribe=One-Click'
	}
	if (isMarketing || mail.isCampaign) {
		headers['Precedence'] = 'bulk'
		headers['Auto-Submitted'] = 'auto-generated'
		headers['X-Auto-Response-Suppress'] = 'All'
	}
	return headers
}

/** Customers may write the link themselves, without the mail's id. */
function leadsTo(html: string, url: string) {
	return html.includes(url.split('?', 1)[0]!)
}
