import type { ExecutionContext } from 'ava'
import type { InjectOptions } from 'fastify'
import { Contact } from '../../db/contacts/contact.ts'
import { Email } from '../../db/emails/email.ts'
import { Event } from '../../db/events/event.ts'
import { Suppression } from '../../db/reputation/suppression.ts'
import { setupSend } from './send.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
export const oneClick = { headers: form, payload: 'List-Unsubscribe=One-Click' }

/** A subscribed contact with a mail, and a browser without scripts. */
export async function setupPublic(
	t: ExecutionContext,
	options: Parameters<typeof setupSend>[1] = {},
) {
	const all = await setupSend(t, options)
	const { app, orm } = all
	const { id: emailId, contactId } = await all.sent({ subscribed: true })
	const id = contactId!
	const post = (url: string, request: InjectOptions = {}) =>
		app.inject({ method: 'POST', url, ...request })
	return {
		...all,
		id,
		emailId,
		get: (url: string, headers: object = {}) => app.inject({ url, headers: { ...headers } }),
		post,
		submit: (url: string, fields: Record<string, string>) =>
			post(url, { headers: form, payload: new URLSearchParams(fields).toString() }),
		/** Everything that a visit could change. */
		state: async () => {
			const em = orm.em.fork()
			const flips = await em.find(Event, {}, { orderBy: { id: 'asc' } })
			return {
				subscribed: (await em.findOneOrFail(Contact, { id })).subscribed,
				events: flips.map(({ name, emailId }) => (emailId ? `${name} by mail` : name)),
				suppressed: (await em.find(Suppression, {})).map(({ reason }) => reason),
				unsubscribedBy: (await em.find(Email, { unsubscribedAt: { $ne: null } })).map((m) => m.id),
			}
		},
	}
}

export const untouched = { subscribed: true, events: [], suppressed: [], unsubscribedBy: [] }

/** The text of a page as readers see it. */
export const textOf = (html: string) =>
	html
		.replace(/<style>.*<\/style>/s, '')
		.replaceAll(/<[^>]*>/g, ' ')
		.replaceAll(/\s+/g, ' ')
		.trim()
