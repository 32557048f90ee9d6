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

/** The public pages of one contact. They record which mail linked to them. */
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
 * All variables that a template can use. One-off values override stored ones, at the top level and under
 * `data`; neither can override our own. `extra` holds a workflow's additions.
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
