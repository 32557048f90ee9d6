import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import type { ExecutionContext } from 'ava'
import { campaignActivities } from '../../activities/campaigns/campaigns.ts'
import type { CampaignKey } from '../../db/campaigns/campaign-actions.ts'
import type { Progress } from '../../db/campaigns/campaign-counts.ts'
import { Domain } from '../../db/domains/domain.ts'
import { createProject, setup } from './app.ts'

export const sumOf = ({ pending, sending, uncertain, sent, failed, skipped }: Progress) =>
	pending + sending + uncertain + sent + failed + skipped

/** Quiet, because failures are part of these tests. */
const logger = new DefaultLogger('ERROR', () => {})

export const whole = {
	name: 'Spring',
	subject: 'Hello {{ name }}',
	body: '<p>Hello {{ name }}</p>',
	from: 'news@example.com',
	audienceType: 'ALL',
}

export const plan = (value: string) => ({
	logic: 'AND',
	groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value }] }],
})

export const inSegment = (id: string) => ({
	logic: 'AND',
	groups: [{ filters: [{ field: `segment.${id}`, operator: 'memberOfSegment' }] }],
})

/** An API with a project that may send from example.com, and shortcuts for tests of campaigns. */
export async function openCampaigns(
	t: ExecutionContext,
	options: Parameters<typeof setup>[1] = {},
) {
	return withCampaigns(t, await setup(t, options))
}

type Context = Awaited<ReturnType<typeof setup>>

/** The same shortcuts for any API with a project. */
export async function withCampaigns<C extends Context>(t: ExecutionContext, context: C) {
	const { app, orm, pool, project, withSecretKey } = context
	await verify(project.id, 'example.com')
	const stopping = new AbortController()
	const activities = campaignActivities({ pool, stopping: stopping.signal })

	async function verify(projectId: string, domain: string, verifiedAt: Date | null = new Date()) {
		const em = orm.em.fork()
		em.create(Domain, { projectId, domain, verifiedAt })
		await em.flush()
	}
	const request = (
		method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
		url: string,
		payload?: object,
		headers: object = withSecretKey,
	) => app.inject({ method, url, headers: { ...headers }, ...(payload ? { payload } : {}) })
	const call = (...[method, path, ...rest]: Parameters<typeof request>) =>
		request(method, `/campaigns${path}`, ...rest)
	const act = <T>(work: (key: CampaignKey) => Promise<T>, campaignId: string) =>
		new MockActivityEnvironment({}, { logger }).run(work, {
			projectId: project.id,
			campaignId,
		}) as Promise<T>
	const query = async <Row extends object>(sql: string, values: unknown[] = []) =>
		(await pool.query<Row>(sql, values)).rows

	const create = async (changes: object = {}) => {
		const answer = await call('POST', '', { ...whole, ...changes })
		t.is(answer.statusCode, 201, answer.body)
		return answer.json().data as { id: string; totalRecipients: number }
	}
	/** A campaign that is being sent and whose audience is frozen. */
	const frozen = async (changes: object = {}) => {
		const { id } = await create(changes)
		const answer = await call('POST', `/${id}/send`)
		t.is(answer.statusCode, 200, answer.body)
		await act(activities.materialiseCampaign, id)
		return id
	}
	/** Puts the mails of a campaign into the ledger, as if each had been refused for now. */
	const written = (id: string) =>
		query(
			`with gone as (
				delete from audience_pages where campaign_id = $1
				returning contact_ids[taken + 1 : size] as contact_ids
			)
			insert into emails (project_id, contact_id, "to", "from", from_name, reply_to, subject, language, type,
				source_type, campaign_id)
			select k.project_id, c.id, c.email, k."from", coalesce(k.from_name, k.project_name), k.reply_to, k.subject,
				k.language, k.type, 'CAMPAIGN', k.id
			from gone, unnest(contact_ids) contact_id, contacts c, campaigns k
			where c.id = contact_id and k.id = $1 order by c.id`,
			[id],
		)
	const progress = async (id: string) => (await call('GET', `/${id}/progress`)).json() as Progress

	return {
		...context,
		verify,
		request,
		call,
		act,
		activities,
		/** Stops the process that runs the activities. */
		stop: () => stopping.abort(),
		query,
		create,
		progress,
		get: async (id: string) => (await call('GET', `/${id}`)).json(),
		otherProject: async () => {
			const other = await createProject(orm)
			await verify(other.project.id, 'example.org')
			return other
		},
		/** user0, user1…, subscribed unless a column says otherwise. */
		contacts: async (
			count: number,
			columns: { subscribed?: boolean; data?: object } = {},
			name = 'user',
		) => {
			const { subscribed = true, data = {} } = columns
			const rows = await query<{ id: string }>(
				`insert into contacts (project_id, email, subscribed, data)
				select $1, $2 || n || '@example.net', $3, $4 from generate_series(0, $5::int - 1) n
				returning id`,
				[project.id, name, subscribed, JSON.stringify(data), count],
			)
			return rows.map(({ id }) => id)
		},
		frozen,
		/** The same, with all its mails in the ledger. */
		started: async (changes: object = {}) => {
			const id = await frozen(changes)
			await written(id)
			return id
		},
		written,
		/** The states of its mails. TO COME: they are not in the ledger yet. */
		states: async (id: string) => {
			const rows = await query<{ status: string; count: number }>(
				`select status, count(*)::int as count from emails where campaign_id = $1 group by status
				union all
				select 'TO COME', sum(size - taken)::int from audience_pages where campaign_id = $1
				having sum(size - taken) > 0
				order by status`,
				[id],
			)
			return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
		},
		/** The addresses of its mails, and of those that are not in the ledger yet. */
		recipients: async (id: string) => {
			const rows = await query<{ to: string }>(
				`select "to" from emails where campaign_id = $1
				union all
				select email from audience_pages cross join lateral unnest(contact_ids[taken + 1 : size]) contact_id
				join contacts on id = contact_id where campaign_id = $1
				order by 1`,
				[id],
			)
			return rows.map(({ to }) => to)
		},
	}
}
