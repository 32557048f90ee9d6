import type { Variables } from './look-up.ts'

export interface Recipient {
	id: string
	email: string
	subscribed: boolean
	data: Variables
}

export interface Links {
	unsubscribeUrl: string
	subscribeUrl: string
	manageUrl: string
}

/** The public pages of one contact, remembering which mail led there. */
export function linksFor(publicUrl: string, contactId: string, emailId?: string): Links {
	const base = publicUrl.replace(/\/+$/, '')
	const from = emailId === undefined ? '' : `?e=${emailId}`
	return {
		unsubscribeUrl: `${base}/unsubscribe/${contactId}${from}`,
		subscribeUrl: `${base}/subscribe/${contactId}${from}`,
		manageUrl: `${base}/manage/${contactId}${from}`,
	}
}

/**
 * Everything a template can name. One-off values come before what is stored, at top level and under
 * `data`; neither can take the place of what is ours. `extra` is what a workflow adds.
 */
export function variablesFor(
	contact: Recipient,
	links: Links,
	once: Variables = {},
	extra: Variables = {},
): Variables {
	const data = { ...contact.data, ...once }
	const { id, email, subscribed } = contact
	return { ...data, data, ...extra, locale: data.locale, id, email, subscribed, ...links }
}
