import test from 'ava'
import { encodeCursor } from '../api/schemas.ts'
import { Campaign } from '../db/campaigns/campaign.ts'
import { Email } from '../db/emails/email.ts'
import { createProject } from './helpers/app.ts'
import { setupMails } from './helpers/mails.ts'

const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id)

test("no query lists another project's mails", async (t) => {
	const { orm, app, ids, list } = await setupMails(t, 1)
	const { project: theirs } = await createProject(orm)
	const { withSecretKey: headers } = await createProject(orm)
	const own = await app.inject({ url: '/emails', headers })
	t.is(own.json().total, 0)
	const [mail] = await orm.em.fork().findAll(Email)
	for (const query of [`projectId=${mail!.projectId}`, `projectId[$ne]=${theirs.id}`, '$or=1']) {
		const answer = await app.inject({ url: `/emails?${query}`, headers })
		t.deepEqual(answer.json().data, [], query)
	}
	t.deepEqual(idsOf(await list(`?projectId=${theirs.id}&body=x&no%20such=thing`)), ids)
})

test('a mail shows all of its record, and nothing of our own book-keeping', async (t) => {
	const { sent, get, project, createTemplate } = await setupMails(t)
	const { id: templateId } = await createTemplate()
	const mail = await sent({
		to: { email: 'anna@example.org', name: 'Anna' },
		from: { email: 'app@example.com', name: 'App' },
		template: templateId,
		reply: 'help@example.com',
		headers: { 'X-A': 'b' },
		attachments: [{ filename: 'a.txt', content: 'YQ==', contentType: 'text/plain' }],
	})
	const { createdAt, updatedAt, ...rest } = await get(mail.id)
	t.deepEqual(rest, {
		id: mail.id,
		projectId: project.id,
		contactId: mail.contactId,
		to: 'anna@example.org',
		toName: 'Anna',
		cc: [],
		bcc: [],
		from: 'app@example.com',
		fromName: 'App',
		replyTo: 'help@example.com',
		subject: 'Hello',
		body: '<p>Hello</p>',
		text: null,
		headers: { 'X-A': 'b' },
		tags: [],
		attachments: [{ filename: 'a.txt', contentType: 'text/plain', size: 1 }],
		messageId: `<${mail.id}@example.com>`,
		sourceType: 'TRANSACTIONAL',
		templateId,
		campaignId: null,
		workflowExecutionId: null,
		workflowStepExecutionId: null,
		status: 'PENDING',
		scheduledFor: null,
		possibleRepeat: false,
		error: null,
		sentAt: null,
		deliveredAt: null,
		openedAt: null,
		clickedAt: null,
		bouncedAt: null,
		complainedAt: null,
		opens: 0,
		clicks: 0,
		prefetches: 0,
		attempts: [],
		engagements: [],
	})
	t.is(createdAt, mail.createdAt.toISOString())
	t.is(updatedAt, mail.updatedAt!.toISOString())
})

test('a fault in rendering shows as the error, until delivery has a worse one', async (t) => {
	const { sent, get, pool } = await setupMails(t)
	const { id } = await sent({ body: '{{ (1..999999999) }}' })
	t.regex((await get(id)).error, /^In the body, line 1: memory/)
	await pool.query(`update emails set status = 'FAILED', error = 'Refused'`)
	t.is((await get(id)).error, 'Refused')
})

test('attempts come in their order, the one under way last', async (t) => {
	const { get, ids, makeUncertain, pool } = await setupMails(t, 1)
	const [id] = ids as [string]
	await makeUncertain(id)
	const closed = {
		at: '2026-01-31T12:00:00.000Z',
		outcome: 'UNKNOWN',
		provider: 'smtp',
		providerMessageId: null,
		error: 'The worker went away',
	}
	t.deepEqual((await get(id)).attempts, [closed])
	await pool.query(
		`update emails set status = 'SENDING', attempt = 2, attempt_started_at = '2026-01-31T12:10:00Z'`,
	)
	const open = { ...closed, at: '2026-01-31T12:10:00.000Z', outcome: 'OPEN', error: null }
	t.deepEqual((await get(id)).attempts, [closed, open])
})

test('the list is newest first, page by page, and counts once', async (t) => {
	const { list, ids } = await setupMails(t, 5)
	const first = await list('?limit=2')
	t.deepEqual(idsOf(first), ids.slice(0, 2))
	t.like(first, { hasMore: true, total: 5 })
	const second = await list(`?limit=2&cursor=${first.cursor}`)
	t.deepEqual(idsOf(second), ids.slice(2, 4))
	t.like(second, { hasMore: true, total: 0 })
	const last = await list(`?limit=2&cursor=${second.cursor}`)
	t.deepEqual(idsOf(last), ids.slice(4))
	t.deepEqual([last.hasMore, last.total, 'cursor' in last], [false, 0, false])
	const exact = await list('?limit=5')
	t.deepEqual([exact.hasMore, 'cursor' in exact], [false, false])
})

test('a page ends before its bodies are more than 16 MB, and the next begins there', async (t) => {
	const { list, ids, pool, get } = await setupMails(t, 6)
	// Newest first: 9 and 7 MB make a page, the next mail alone exceeds one, and the small mails follow.
	const megabytes = [9, 7, 17, 0, 1, null]
	for (const [i, size] of megabytes.entries())
		await pool.query('update emails set body = repeat($2, $3 * 1024 * 1024) where id = $1', [
			ids[i],
			String(i),
			size,
		])
	const pages: string[][] = []
	const sizes: (number | null)[] = []
	for (let cursor = ''; ;) {
		const page = await list(`?limit=100${cursor && `&cursor=${cursor}`}`)
		pages.push(idsOf(page))
		sizes.push(...page.data.map(({ body }) => (body === null ? null : body.length / 2 ** 20)))
		t.is(page.hasMore, page.cursor !== undefined)
		if (page.cursor === undefined) break
		cursor = page.cursor
	}
	t.deepEqual(pages, [ids.slice(0, 2), ids.slice(2, 3), ids.slice(3)])
	t.deepEqual(sizes, [9, 7, 17, 0, 1, null])
	t.is((await get(ids[2]!)).body.length, 17 * 2 ** 20)
})

test('a page has 20 mails by default, 100 at most', async (t) => {
	const { list, send, ask } = await setupMails(t)
	await send({ to: Array.from({ length: 101 }, (_, i) => `to-${i}@a.org`) })
	t.is((await list()).data.length, 20)
	t.is((await list('?limit=1')).data.length, 1)
	t.is((await list('?limit=1000')).data.length, 100)
	t.is((await list('?limit=1000')).total, 101)
	for (const limit of ['0', '-1', '1.5', 'all', ''])
		t.is((await ask(`/emails?limit=${limit}`)).statusCode, 400, limit)
})

test('the list can be filtered by contact, status, source and campaign, alone and together', async (t) => {
	const { list, sent, orm, pool, project, ids } = await setupMails(t, 1)
	const [first] = ids as [string]
	const other = await sent({ to: 'bob@example.org' })
	const campaignId = await orm.em.fork().insert(Campaign, {
		projectId: project.id,
		name: 'Sale',
		subject: '',
		body: '',
		from: 'app@example.com',
		audienceType: 'ALL',
	})
	const campaign = await sent()
	await pool.query(
		`update emails set source_type = 'CAMPAIGN', status = 'SENT', campaign_id = $1 where id = $2`,
		[campaignId, campaign.id],
	)
	const cases: [string, string[]][] = [
		[`contactId=${other.contactId}`, [other.id]],
		[`contactId=${campaign.contactId}`, [campaign.id, first]],
		['status=PENDING', [other.id, first]],
		['status=FAILED', []],
		['sourceType=CAMPAIGN', [campaign.id]],
		[`campaignId=${campaignId}`, [campaign.id]],
		[`campaignId=${crypto.randomUUID()}`, []],
		[`contactId=${campaign.contactId}&status=SENT&sourceType=CAMPAIGN`, [campaign.id]],
		[`contactId=${campaign.contactId}&status=SENT&sourceType=INBOUND`, []],
	]
	for (const [query, expected] of cases) {
		const page = await list(`?${query}`)
		t.deepEqual(idsOf(page), expected, query)
		t.is(page.total, expected.length)
	}
})

test('a bad filter, and a cursor that is not ours, are 400 and name the field', async (t) => {
	const { ask } = await setupMails(t)
	const cases: [string, string][] = [
		['contactId=anna', 'contactId'],
		['campaignId=5', 'campaignId'],
		['status=sent', 'status'],
		['status=', 'status'],
		['sourceType=API', 'sourceType'],
		['cursor=nonsense', 'cursor'],
		['cursor=', 'cursor'],
		[`cursor=${encodeCursor([5])}`, 'cursor'],
		[`cursor=${encodeCursor(['urn:uuid:019b0000-0000-7000-8000-000000000000'])}`, 'cursor'],
		[`cursor=${encodeCursor([crypto.randomUUID(), 'more'])}`, 'cursor'],
	]
	for (const [query, field] of cases) {
		const response = await ask(`/emails?${query}`)
		t.is(response.statusCode, 400, query)
		t.is(response.json().error.code, 'BAD_REQUEST')
		t.is(response.json().error.errors[0].field, field)
	}
})

test("another project's mail is in no list, and nowhere to be found or resolved", async (t) => {
	const { app, newProject, ids, makeUncertain, ask, mails } = await setupMails(t, 1)
	const [id] = ids as [string]
	await makeUncertain(id)
	const { withSecretKey: headers } = await newProject()
	const body = { method: 'POST', url: `/emails/${id}/resolve`, payload: { as: 'retry' } } as const
	t.like((await app.inject({ url: '/emails', headers })).json(), { data: [], total: 0 })
	for (const request of [{ url: `/emails/${id}` }, body]) {
		const foreign = await app.inject({ ...request, headers })
		t.is(foreign.statusCode, 404)
		t.is(foreign.json().error.code, 'RESOURCE_NOT_FOUND')
		t.deepEqual(foreign.json().error.details, { resource: 'email', id })
	}
	t.is((await mails())[0]!.status, 'UNCERTAIN')
	t.is((await ask('/emails/anna')).statusCode, 404)
	t.is((await app.inject('/emails')).statusCode, 401)
})
