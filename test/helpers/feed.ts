import type { ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import type { FeedItem } from '../../db/analytics/feed.ts'
import { setupExecutions } from './executions.ts'

export interface FeedPage {
	data: (Omit<FeedItem, 'timestamp' | 'metadata'> & {
		timestamp: string
		metadata: Record<string, unknown>
	})[]
	cursor?: string
	hasMore: boolean
	total: number
}

interface MailColumns {
	sent_at?: string
	delivered_at?: string
	opened_at?: string
	clicked_at?: string
	bounced_at?: string
	status?: string
}

/** An API with feed and figures. Events and mails are written as workers write them. */
export async function setupFeed(t: ExecutionContext) {
	const context = await setupExecutions(t)
	const { app, pool, project, withSecretKey } = context
	const ask = (url: string, headers: object = withSecretKey) =>
		app.inject({ method: 'GET', url, headers: { ...headers } })
	const get = async <Answer>(url: string, headers?: object): Promise<Answer> => {
		const answer = await ask(url, headers)
		t.is(answer.statusCode, 200, answer.body)
		return answer.json()
	}
	return {
		...context,
		ask,
		get,
		feed: (query = '', headers?: object) => get<FeedPage>(`/activity${query}`, headers),
		/** The status, and the errors as "field: code". */
		refused: async (url: string) => {
			const answer = await ask(url)
			const { error } = answer.json() as {
				error: { code: string; errors?: { field: string; code: string }[] }
			}
			return [answer.statusCode, error.code, error.errors?.map((e) => `${e.field}: ${e.code}`)]
		},
		/** Adds events with a name to a project, at these times. */
		happen: async (name: string, [...times]: string[], projectId = project.id) => {
			if (name === 'email.sent') await sendAt(pool, projectId, times.splice(0, times.length / 2))
			await pool.query(
				`insert into events (project_id, name, created_at)
				select $1, $2, unnest($3::timestamptz[])`,
				[projectId, name, times],
			)
		},
		/** Adds a row to the ledger. */
		mail: async (columns: MailColumns = {}, projectId = project.id) => {
			const { rows } = await pool.query<{ id: string }>(
				`insert into emails (project_id, "to", "from", subject, source_type)
				values ($1, 'ann@example.org', 'shop@example.com', 'Hello', 'TRANSACTIONAL') returning id`,
				[projectId],
			)
			const { id } = rows[0]!
			const entries = Object.entries(columns)
			if (entries.length > 0)
				await pool.query(
					`update emails set ${entries.map(([column], i) => `${column} = $${i + 2}`).join(', ')} where id = $1`,
					[id, ...entries.map(([, value]) => value)],
				)
			return id
		},
	}
}

/** Mails that are their own events, each accepted some seconds before it was sent. */
async function sendAt(pool: Pool, projectId: string, times: string[]) {
	await pool.query(`update mikro_orm_migrations set executed_at = '2000-01-01'`)
	await pool.query(
		`with sent as (
			insert into emails (project_id, id, "to", "from", subject, source_type, status, sent_at, is_sent_event)
			select $1, uuidv7(at - now() - interval '1 second' - random() * interval '8 seconds'), 'ann@example.org',
				'shop@example.com', 'Hello', 'TRANSACTIONAL', 'SENT', at, true
			from unnest($2::timestamptz[]) at
			returning sent_at
		)
		insert into event_tallies (project_id, name, day, count)
		select $1, 'email.sent', (sent_at at time zone 'UTC')::date, 1 from sent`,
		[projectId, times],
	)
}
