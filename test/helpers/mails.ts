import type { InjectOptions } from 'fastify'
import { setupSend } from './send.ts'

/** An API with this many mails, newest first, and shortcuts for requests about them. */
export async function setupMails(
	t: Parameters<typeof setupSend>[0],
	count = 0,
	options: Parameters<typeof setupSend>[1] = {},
) {
	const all = await setupSend(t, options)
	const { app, pool, withSecretKey, sent } = all
	const ask = (url: string, options: InjectOptions = {}) =>
		app.inject({ url, headers: withSecretKey, ...options })
	const ids: string[] = []
	for (let i = 0; i < count; i++) ids.unshift((await sent({ subject: `No. ${i}` })).id)
	return {
		...all,
		ids,
		ask,
		list: async (query = '') => {
			const response = await ask(`/emails${query}`)
			t.is(response.statusCode, 200, response.body)
			return response.json() as {
				data: { id: string; body: string | null }[]
				cursor?: string
				hasMore: boolean
				total: number
			}
		},
		get: async (id: string) => (await ask(`/emails/${id}`)).json(),
		resolve: (id: string, as: unknown) =>
			ask(`/emails/${id}/resolve`, { method: 'POST', payload: { as } }),
		/** Leaves the mail as a worker does that is lost after the hand-over. */
		makeUncertain: (id: string) =>
			pool.query(
				`with doubted as (
					update emails set status = 'UNCERTAIN', attempt = 1, provider = 'smtp', error = 'The worker went away',
						attempt_started_at = '2026-01-31T12:00:00.000Z'
					where id = $1 returning *)
				insert into attempts (project_id, email_id, attempt, at, outcome, provider, error)
				select project_id, id, attempt, attempt_started_at, 'UNKNOWN', provider, error from doubted`,
				[id],
			),
	}
}
