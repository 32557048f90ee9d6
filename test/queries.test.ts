import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { scanContacts } from '../db/contacts/contact-query.ts'
import { isMatching, matchingAfter } from '../db/contacts/matching-contacts.ts'
import { countAudit, listAudit } from '../db/projects/audit.ts'
import { always, joined, numbered, ownText, queries, sql } from '../db/sql.ts'
import { int, json, text, uuid } from '../db/sql-types.ts'
import { openCampaigns, plan } from './helpers/campaigns.ts'
import { describer } from './helpers/description.ts'
import { setupJobs } from './helpers/jobs.ts'
import { loadStatements } from './helpers/load-statements.ts'

// Runs the queries that are composed for each call, and has Postgres describe each resulting text.

/** Collects the queries from now on, by name. */
function watchQueries(t: ExecutionContext) {
	const asked = new Map<string, Set<string>>()
	const { prototype } = pg.Client
	const { query } = prototype
	function watched(this: pg.Client, ...given: unknown[]) {
		const [config] = given as [{ query?: string; text: string }]
		if (config?.query !== undefined)
			asked.set(config.query, (asked.get(config.query) ?? new Set()).add(config.text))
		return Reflect.apply(query, this, given)
	}
	prototype.query = watched as typeof query
	t.teardown(() => {
		prototype.query = query
	})
	return asked
}

test('composed queries return their declared columns for any request', async (t) => {
	await loadStatements()
	const asked = watchQueries(t)
	const campaigns = await openCampaigns(t)
	const { pool, project, request, started } = campaigns
	// More than a search counts in one pass.
	const [first] = await campaigns.contacts(1100, { data: { plan: 'pro' } })

	for (const sort of ['email', 'createdAt'])
		for (const dir of ['asc', 'desc'])
			for (const filter of ['', '&subscribed=true', '&subscribed=false', '&search=user'])
				await readTwoPages(`/contacts?limit=1&sort=${sort}&dir=${dir}${filter}`)
	async function readTwoPages(path: string) {
		const { nextCursor } = (await request('GET', path)).json()
		if (nextCursor) await request('GET', `${path}&cursor=${encodeURIComponent(nextCursor)}`)
	}

	const condition = plan('pro')
	for (const trackMembership of [true, false]) {
		const made = await request('POST', '/segments', { name: 'S', condition, trackMembership })
		const { id } = made.json()
		await request('POST', `/segments/${id}/compute`)
		await request('POST', `/segments/${id}/refresh`)
		await request('GET', `/segments/${id}/contacts`)
	}
	await started({ audienceType: 'FILTERED', audienceCondition: condition })

	for (const order of [{ sort: 'email' }, { sort: 'createdAt' }, { sort: 'email', search: 'user' }])
		for (const value of ['pro', 'none'])
			await request('POST', '/contacts/query', { ...order, condition: plan(value) })

	const order = { search: null, subscribed: null, sort: 'email', dir: 'asc', after: null } as const
	await scanContacts(pool, { ...order, projectId: project.id, limit: 1, isMeant: always })
	for (const search of ['', 'user', 'user mail', 'user0@example.net', first!])
		await request('GET', `/emails?from=2026-01-01T00:00:00Z&search=${encodeURIComponent(search)}`)

	const hook = { url: 'https://example.com/', events: ['*'] }
	const { id: endpointId } = (await request('POST', '/webhook-endpoints', hook)).json()
	const deliveries = `/webhook-endpoints/${endpointId}/deliveries`
	const period = 'from=2026-01-01T00:00:00Z&to=2036-01-01T00:00:00Z'
	for (const chosen of [
		'',
		'status=HELD',
		'type=email.sent',
		`emailId=${first}`,
		`contactId=${first}`,
		period,
	])
		await request('GET', `${deliveries}?${chosen}`)

	const day = new Date('2026-01-01')
	for (const filter of [
		{},
		{ by: 'user' },
		{ by: 'key' },
		{ userId: first!, from: day, to: day },
	]) {
		const meant = { publicId: project.publicId, ...filter } as Parameters<typeof countAudit>[1]
		for (const after of [null, first!]) await listAudit(pool, meant, { after, limit: 1 })
		await countAudit(pool, meant)
	}

	const jobs = await setupJobs(t)
	const filter = { search: 'user', subscribed: true, condition }
	await jobs.bulk('unsubscribe', { mode: 'query', filter, excludeIds: [first] })
	t.true(await isMatching(pool, project.id, first!, always))
	const part = { projectId: project.id, after: first!, createdUntil: day, contacts: 1 }
	await matchingAfter(pool, part, always)

	const db = await pool.connect()
	t.teardown(() => db.release())
	const faultsOf = await describer(db)
	const wrong: Record<string, string[]> = {}
	for (const [name, row] of queries)
		for (const text of asked.get(name) ?? ['It was not asked']) {
			const faults = await faultsOf({ text, params: {}, row })
			if (faults.length > 0) wrong[name] = [text, ...faults]
		}
	t.deepEqual(wrong, {})
})

test('a value in SQL travels beside its text, with its type, and once', (t) => {
	const hostile = `'; drop table contacts; --`
	const email = text.value(hostile)
	const either = joined([sql`email = ${email}`, sql`name = ${email}`], ' or ')
	const page = sql`select ${ownText('id')} from contacts where (${either})
		and data @> ${json<object>().value({ a: 1 })} limit ${int.value(2)}`
	t.deepEqual(numbered(page), {
		text: `select id from contacts where (email = $1::text or name = $1::text)
		and data @> $2::jsonb limit $3::int4`,
		values: [hostile, '{"a":1}', 2],
	})
	t.deepEqual(numbered(sql`any(${uuid.array.value([])})`), { text: 'any($1::_uuid)', values: [[]] })
})
