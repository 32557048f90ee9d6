import type { ExecutionContext } from 'ava'
import { Contact } from '../../db/contacts/contact.ts'
import { Event } from '../../db/events/event.ts'
import { setup } from './app.ts'

/** An API with a project, and shortcuts for its events. */
export async function setupEvents(t: ExecutionContext) {
	const all = await setup(t)
	const { app, orm, project } = all
	const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers: all.withSecretKey, ...(payload ? { payload } : {}) })
	return {
		...all,
		call,
		get: async (url: string) => {
			const response = await call('GET', url)
			t.is(response.statusCode, 200, response.body)
			return response.json()
		},
		add: (...events: Partial<Event>[]) =>
			orm.em.fork().insertMany(
				Event,
				events.map((event) => ({ projectId: project.id, name: 'order', ...event })),
			),
		createContact: async (email: string, projectId = project.id) => {
			const em = orm.em.fork()
			const contact = em.create(Contact, { projectId, email, subscribed: true })
			await em.flush()
			return contact
		},
	}
}
