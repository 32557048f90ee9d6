import type { ExecutionContext } from 'ava'
import { setup } from './app.ts'

export const addresses = (page: { data: { email: string }[] }) =>
	page.data.map(({ email }) => email)

export const plan = (value: string) => ({
	logic: 'AND',
	groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
})

/** An API with its own database, and shortcuts for tests of segments. */
export async function openSegments(t: ExecutionContext) {
	const { app, orm, pool, project, withPublicKey, withSecretKey: headers } = await setup(t)
	const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) =>
		app.inject({ method, url: `/segments${path}`, headers, ...(payload ? { payload } : {}) })
	const contact = (email: string, data: object = {}) =>
		app.inject({ method: 'POST', url: '/contacts', headers, payload: { email, data } })
	const events = async () => {
		const { rows } = await pool.query<{ name: string }>('select name from events order by id')
		return rows.map(({ name }) => name)
	}
	const track = (email: string, event: string) =>
		app.inject({
			method: 'POST',
			url: '/v1/track',
			headers: withPublicKey,
			payload: { email, event },
		})
	/** Entries and exits, by address. */
	/** By transaction: the events of one have times that differ when a millisecond ends in between. */
	const entries = async () => {
		const { rows } = await pool.query<{ line: string }>(
			`select c.email || ' ' || e.name as line from events e join contacts c on c.id = e.contact_id
			where e.name like 'segment.%' order by e.xmin::text::bigint, c.email, e.name`,
		)
		return rows.map(({ line }) => line)
	}
	return {
		app,
		orm,
		pool,
		call,
		contact,
		events,
		entries,
		track,
		withSecretKey: headers,
		projectId: project.id,
	}
}
