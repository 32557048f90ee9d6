import test, { type ExecutionContext } from 'ava'
import { compileFor } from '../db/conditions/condition-segments.ts'
import type { Condition } from '../db/conditions/condition.ts'
import { numbered, sql } from '../db/sql.ts'
import { uuid } from '../db/sql-types.ts'
import { analyzeGrown, startAnalyzing } from '../db/statistics.ts'
import { inSegment, openCampaigns } from './helpers/campaigns.ts'

// No plan may depend on autovacuum, so here it never runs. Workers update the statistics of grown tables.

const people = 20_000
/** Enough for any plan that uses an index, even on a busy machine; wrong plans take minutes. */
const mostMs = 5000

const where = (field: string, operator: string, amount: object = {}) =>
	({ logic: 'AND', groups: [{ filters: [{ field, operator, ...amount }] }] }) as Condition
const aDay = { value: 1, unit: 'days' }
const conditionsOn = (segment: string) => [
	where('email.sent', 'triggered'),
	where('email.sent', 'notTriggered'),
	where('email.opened', 'triggered'),
	where('email.sent', 'triggeredOlderThan', aDay),
	where('event.signed-up', 'triggered'),
	where('event.signed-up', 'notTriggeredWithin', aDay),
	inSegment(segment) as Condition,
	where(`segment.${segment}`, 'notMemberOfSegment'),
]
const lists = `/contacts /contacts?search=user1 /contacts?sort=email /contacts/fields /emails
	/emails?status=SENT /emails?status=FAILED /emails?campaignId={campaign} /events
	/events?eventName=signed-up /events/stats /events/signed-up/usage /activity
	/activity?types=email.sent /activity?types=email.opened /activity/stats /activity/recent-count
	/activity/upcoming /workflows/fields /analytics/timeseries /analytics/top-campaigns
	/analytics/campaign-stats /campaigns/{campaign}/stats /campaigns/{campaign}/progress
	/campaigns/{campaign}/recipients /campaigns/{campaign}/recipients?status=FAILED
	/segments/{segment}/contacts /contacts/{contact} /events/contact/{contact}
	/activity?contactId={contact}`.split(/\s+/)

async function setupGrowth(t: ExecutionContext) {
	const campaigns = await openCampaigns(t)
	const { act, activities, create, query, request } = campaigns
	const tables = await query<{ name: string }>(
		`select relname as name from pg_class
		where relkind = 'r' and relnamespace = 'public'::regnamespace`,
	)
	for (const { name } of tables)
		await query(`alter table "${name}" set (autovacuum_enabled = false)`)
	const made = await request('POST', '/segments', { name: 'Some', type: 'STATIC' })
	const segment = made.json().id as string

	/** A sent campaign to all contacts, and its recipients' activities. */
	async function campaign() {
		const id = await campaigns.started()
		await query(`update emails set status = 'SENT', sent_at = now() where status = 'PENDING'`)
		await query(
			`insert into attempts (project_id, email_id, attempt, at, outcome)
			select project_id, id, 1, now(), 'SENT' from emails where campaign_id = $1`,
			[id],
		)
		await query(
			`insert into events (project_id, name, contact_id)
			select project_id, 'signed-up', contact_id from emails where campaign_id = $1`,
			[id],
		)
		await query(
			`insert into segment_members (project_id, segment_id, contact_id, computed)
			select project_id, $2, contact_id, false from emails where campaign_id = $1
			on conflict do nothing`,
			[id, segment],
		)
		return id
	}

	const slow: string[] = []
	async function timed(method: 'GET' | 'POST', path: string, body?: object) {
		const startedAt = Date.now()
		const answer = await request(method, path, body)
		const ms = Date.now() - startedAt
		if (ms > mostMs || answer.statusCode >= 300)
			slow.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.statusCode} after ${ms} ms`)
		return answer.json()
	}

	async function useCondition(condition: Condition) {
		const body = { name: 'S', condition, trackMembership: true }
		const { id } = await timed('POST', '/segments', body)
		await timed('POST', `/segments/${id}/compute`)
		await timed('POST', `/segments/${id}/refresh`)
		await timed('GET', `/segments/${id}/contacts`)
		const audience = { audienceType: 'FILTERED', audienceCondition: condition }
		const { id: other, totalRecipients } = await create(audience)
		if (totalRecipients === 0) return
		await timed('POST', `/campaigns/${other}/send`)
		const startedAt = Date.now()
		await act(activities.materialiseCampaign, other)
		const ms = Date.now() - startedAt
		if (ms > mostMs) slow.push(`materialising ${JSON.stringify(condition)}: ${ms} ms`)
	}

	/** All requests that read these tables; returns the slow ones. */
	async function useAll(id: string) {
		for (const condition of conditionsOn(segment)) await useCondition(condition)
		const [latest] = await query<{ id: string }>('select id from contacts order by id desc limit 1')
		const ids: Record<string, string> = { campaign: id, contact: latest!.id, segment }
		for (const path of lists)
			await timed(
				'GET',
				path.replace(/\{(\w+)\}/, (_, name: string) => ids[name]!),
			)
		return slow.splice(0)
	}
	return { ...campaigns, segment, campaign, useAll }
}

for (const known of ['nothing', 'next to nothing'])
	test.serial(`where statistics know ${known}, answers are quick after a campaign`, async (t) => {
		t.timeout(600_000)
		const { campaign, contacts, pool, query, useAll } = await setupGrowth(t)
		// Workers do this too.
		t.teardown(startAnalyzing(pool))
		await contacts(1, {}, 'first')
		const small = await campaign()
		if (known === 'next to nothing') await query('analyze')
		// Often enough for connections to keep the plans from when everything was small.
		for (let round = 0; round < 7; round++) t.deepEqual(await useAll(small), [])
		await contacts(people, { data: { plan: 'pro' } })
		const large = await campaign()
		t.deepEqual(await useAll(large), [])
	})

for (const known of ['nothing', 'next to nothing', 'pages without rows', 'everything'])
	test(`where statistics know ${known}, conditions look a contact up by its own index`, async (t) => {
		const { campaign, contacts, pool, project, query, segment } = await setupGrowth(t)
		await contacts(1, {}, 'first')
		await campaign()
		if (known !== 'nothing') await query('analyze')
		if (known === 'pages without rows') {
			await query(
				`insert into emails (project_id, contact_id, "to", "from", subject, type, source_type, status)
				select project_id, id, email, 'a@example.com', 'S', 'MARKETING', 'TRANSACTIONAL', 'PENDING'
				from contacts, generate_series(1, 20)`,
			)
			await growUnseen()
		}
		async function quickly(write: () => Promise<unknown>) {
			const startedAt = Date.now()
			await write()
			const ms = Date.now() - startedAt
			t.true(ms < mostMs, `${ms} ms`)
		}
		if (known === 'everything') {
			await contacts(2000)
			await campaign()
			await query('analyze')
		}

		/** Statistics are made before the writers commit: they find pages with one contact's rows. */
		async function growUnseen() {
			await contacts(people)
			const writer = await pool.connect()
			try {
				await writer.query('begin')
				for (const rows of [
					`emails (project_id, contact_id, "to", "from", subject, type, source_type, status, sent_at)
					select project_id, id, email, 'a@example.com', 'S', 'MARKETING', 'TRANSACTIONAL', 'SENT', now()`,
					`events (project_id, name, contact_id) select project_id, 'signed-up', id`,
					`segment_members (project_id, segment_id, contact_id, computed)
					select project_id, '${segment}', id, false`,
				])
					await quickly(() =>
						writer.query(`insert into ${rows} from contacts where email <> 'first0@example.net'`),
					)
				await query('analyze')
				await writer.query('commit')
			} finally {
				writer.release()
			}
		}

		for (const condition of conditionsOn(segment)) {
			const matches = await compileFor(pool, project.id, condition)
			const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
				numbered(sql`explain select from contacts c
					where project_id = ${uuid.value(project.id)} and ${matches}`),
			)
			const text = rows.map((line) => line['QUERY PLAN']).join('\n')
			t.notRegex(text, /Join|Materialize|hashed/, text)
			if (known === 'everything' || known === 'pages without rows')
				t.regex(
					text,
					/Index.* Scan (using|on) (emails|events|segment_members)_(\w+_)?contact/,
					text,
				)
		}
	})

test('a table that has grown gets statistics once, and no other does', async (t) => {
	const { contacts, pool, query } = await setupGrowth(t)
	const known = async () => {
		const rows = await query<{ name: string; rows: number }>(
			`select relname as name, reltuples::int as rows from pg_class
			where relnamespace = 'public'::regnamespace and relname in ('contacts', 'emails')
			order by relname`,
		)
		return rows.map(({ name, rows }) => `${name} ${rows}`)
	}
	await contacts(people)
	t.deepEqual(await known(), ['contacts -1', 'emails -1'])
	await analyzeGrown(pool)
	t.deepEqual(await known(), [`contacts ${people}`, 'emails -1'])
	await contacts(100, {}, 'more')
	await analyzeGrown(pool)
	t.deepEqual(await known(), [`contacts ${people}`, 'emails -1'])
})
