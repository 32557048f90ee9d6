import test, { type ExecutionContext } from 'ava'
import { openCampaigns } from './helpers/campaigns.ts'
import { setupMails } from './helpers/mails.ts'

interface Page {
	data: { id: string; to: string; subject: string; createdAt: string }[]
	cursor?: string
	hasMore: boolean
	total: number
	searchedSince?: string
}

async function setup(t: ExecutionContext) {
	const context = await setupMails(t)
	const { ask } = context
	const page = async (query: Record<string, string>) => {
		const answer = await ask('/emails', { query })
		t.is(answer.statusCode, 200, answer.body)
		return answer.json<Page>()
	}
	return {
		...context,
		page,
		found: async (query: Record<string, string>) =>
			(await page(query)).data.map(({ subject, to }) => `${subject} to ${to}`),
	}
}

/** This many old mails beside those that are there, one each second, to no contact. */
const many = (count: number, subject: string) =>
	`insert into emails (project_id, id, "to", "from", subject, body, source_type, created_at)
	select id, (left(first_id_at(at)::text, 14) || '7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, 'x' || i || '@many.example',
		'me@example.com', '${subject} ' || lpad(i::text, 6, '0'), 'B', 'TRANSACTIONAL', at
	from (select id from projects order by created_at desc limit 1) p, generate_series(1, ${count}) i,
		lateral (select date_trunc('month', now()) - interval '1 year' + i * interval '1 second' as at) a`

test('an address finds the mails of its contact, and those to the address alone', async (t) => {
	const { sent, found, pool, page } = await setup(t)
	await sent({ to: 'anna@example.org', subject: 'One' })
	await sent({ to: 'anna@example.org.uk', subject: 'Two' })
	await sent({ to: 'bert@example.org', subject: 'About anna@example.org' })
	await sent({ to: 'anna@example.org', subject: 'Three' })
	const both = ['Three to anna@example.org', 'One to anna@example.org']
	t.deepEqual(await found({ search: ' Anna@Example.org ' }), both)
	t.is((await page({ search: 'anna@example.org', limit: '1' })).total, 2)
	await pool.query(`delete from contacts where email = 'anna@example.org'`)
	t.deepEqual(await found({ search: 'anna@example.org' }), both)
	t.deepEqual(await found({ search: 'nobody@example.org' }), [])
})

test('an id finds its mail', async (t) => {
	const { sent, found, page } = await setup(t)
	await sent({ subject: 'One' })
	const { id } = await sent({ subject: 'Two' })
	t.deepEqual(await found({ search: id.toUpperCase() }), ['Two to anna@example.org'])
	t.deepEqual(await page({ search: crypto.randomUUID() }), { data: [], hasMore: false, total: 0 })
})

test('a word finds mails by the beginning of the address and by the subject', async (t) => {
	const { sent, found } = await setup(t)
	await sent({ to: 'mona@example.org', subject: 'Order 1' })
	await sent({ to: 'bert@example.org', subject: 'The MONA of orders' })
	await sent({ to: 'simona@example.org', subject: 'Order 100%' })
	t.deepEqual(await found({ search: 'Mona' }), [
		'The MONA of orders to bert@example.org',
		'Order 1 to mona@example.org',
	])
	t.deepEqual(await found({ search: 'order mona' }), ['The MONA of orders to bert@example.org'])
	t.deepEqual(await found({ search: '100%' }), ['Order 100% to simona@example.org'])
	t.deepEqual(await found({ search: '1_0' }), [])
})

test("a word finds a campaign's mails by the subject of the campaign", async (t) => {
	const { contacts, started, request } = await openCampaigns(t)
	await contacts(2)
	await started({ subject: 'Spring sale' })
	t.is((await request('GET', '/emails?search=spring')).json().total, 2)
	t.is((await request('GET', '/emails?search=autumn')).json().total, 0)
})

test('filters and times narrow a search', async (t) => {
	const { sent, found, page } = await setup(t)
	const first = await sent({ subject: 'Order 1' })
	await sent({ subject: 'Invoice' })
	const last = await sent({ subject: 'Order 2' })
	const [from, to] = [first.createdAt.toISOString(), last.createdAt.toISOString()]
	t.deepEqual(await found({ search: 'order', status: 'SENT' }), [])
	t.deepEqual(await found({ search: 'order', sourceType: 'CAMPAIGN' }), [])
	t.is((await page({ from, to })).total, 3)
	const second = (time: string, seconds: number) =>
		new Date(Date.parse(time) + seconds * 1000).toISOString()
	t.deepEqual(await page({ search: 'order', from: second(to, 60) }), {
		data: [],
		hasMore: false,
		total: 0,
	})
	t.deepEqual(await page({ to: second(from, -60) }), { data: [], hasMore: false, total: 0 })
	t.is(
		(await page({ search: 'order', contactId: last.contactId!, from: second(from, -60) })).total,
		2,
	)
})

test('a mail is found by its own time, whatever its id says', async (t) => {
	const { sent, page, pool } = await setup(t)
	const [early, late] = [await sent({ subject: 'Early' }), await sent({ subject: 'Late' })]
	await pool.query(
		`update emails set created_at = uuid_extract_timestamp(id)
			+ case subject when 'Early' then interval '-5 seconds' else interval '5 seconds' end`,
	)
	for (const { id } of [early, late]) {
		const { createdAt } = (await page({ search: id })).data[0]!
		const beside = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString()
		const ids = async (query: Record<string, string>) =>
			(await page(query)).data.map((mail) => mail.id)
		t.deepEqual(await ids({ from: createdAt, to: createdAt }), [id])
		t.false((await ids({ from: beside(1) })).includes(id))
		t.false((await ids({ to: beside(-1) })).includes(id))
	}
})

test('words are found in the newest mails, and the answer says back to when', async (t) => {
	const { sent, page, pool } = await setup(t)
	await pool.query(many(20_100, 'Old order'))
	for (const subject of ['Order 1', 'Order 2', 'Order 3']) await sent({ subject })
	const first = await page({ search: 'order', limit: '2' })
	t.is(first.total, 10_000)
	t.deepEqual(
		first.data.map(({ subject }) => subject),
		['Order 3', 'Order 2'],
	)
	t.truthy(first.searchedSince)
	const next = await page({ search: 'order', limit: '2', cursor: first.cursor! })
	t.deepEqual(
		next.data.map(({ subject }) => subject),
		['Order 1', 'Old order 020100'],
	)
	t.is(next.searchedSince, first.searchedSince)
	// The 20,000th mail: the three, and 19,997 old ones.
	t.is((await page({ search: 'order 000103' })).data.length, 0)
	t.deepEqual(
		(await page({ search: 'order 000104' })).data.map(({ subject }) => subject).at(-1),
		'Old order 000104',
	)
	const to = first.searchedSince!
	t.deepEqual(
		(await page({ search: 'order 000103', to })).data.map(({ subject }) => subject),
		['Old order 000103'],
	)
})

test('a search stays within its project', async (t) => {
	const { sent, newProject, app, mails } = await setup(t)
	const { id } = await sent({ subject: 'Order' })
	const { withSecretKey: headers } = await newProject()
	for (const search of ['order', 'anna', 'anna@example.org', id])
		t.deepEqual((await app.inject({ url: '/emails', query: { search }, headers })).json().data, [])
	t.is((await mails()).length, 1)
})

test('a cursor cannot make a search by words read more mails', async (t) => {
	const { sent, found, pool, page } = await setup(t)
	await pool.query(many(20_010, 'Old'))
	for (let n = 0; n < 2; n++) await sent({ subject: `New ${n}` })
	const { cursor } = await page({ limit: '1' })
	t.deepEqual(await found({ search: 'New', cursor: cursor! }), ['New 0 to anna@example.org'])
	t.deepEqual(await found({ search: 'Old 000001', cursor: cursor! }), [])
	const { data } = await page({ limit: '1', cursor: cursor! })
	const lowest = '00000000-0000-7000-8000-000000000000'
	const forged = Buffer.from(JSON.stringify([data[0]!.id, lowest])).toString('base64url')
	t.deepEqual(await found({ search: 'Old 000001', cursor: forged }), [])
})

test('lists of mails and recipients that take too long to find end with 503', async (t) => {
	const { frozen, contacts, request, pool } = await openCampaigns(t)
	await contacts(2)
	const id = await frozen()
	const holder = await pool.connect()
	await holder.query('begin; lock table emails in access exclusive mode')
	const paths = ['/emails?status=PENDING', `/campaigns/${id}/recipients?status=DELIVERED`]
	for (const answer of await Promise.all(paths.map((path) => request('GET', path)))) {
		t.is(answer.statusCode, 503, answer.body)
		t.regex(answer.body, /take too long to find/)
	}
	await holder.query('commit')
	holder.release()
	for (const path of paths) t.is((await request('GET', path)).json().total, 0)
})
