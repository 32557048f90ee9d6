import test, { type ExecutionContext } from 'ava'
import { createProject } from './helpers/app.ts'
import { setupSend } from './helpers/send.ts'
import { recordQueries } from './helpers/queries.ts'
import { addMember, createUser } from './helpers/people.ts'

async function setupReading(t: ExecutionContext) {
	const context = await setupSend(t)
	const { app, orm, project } = context
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const session = { ...headers, 'x-project-id': project.id }
	const get = (url: string, extra: Record<string, string> = {}, who: object = session) =>
		app.inject({ url, headers: { ...who, ...extra } })
	const template = { subject: 'S', body: '<p>B</p>', from: 'a@example.com' }
	const create = async (name: string, body = template.body) => {
		const payload = { ...template, name, body }
		const answer = await app.inject({
			method: 'POST',
			url: '/templates',
			headers: session,
			payload,
		})
		t.is(answer.statusCode, 201, answer.body)
		t.is(answer.headers.etag, undefined)
		return answer.json<{ id: string }>().id
	}
	return { ...context, get, create }
}

test('an answer that a session asks for again is 304 without a body, until it changes', async (t) => {
	const { get, create } = await setupReading(t)
	await create('One')
	const first = await get('/templates')
	t.is(first.statusCode, 200)
	const etag = String(first.headers.etag)
	t.regex(etag, /^W\/"[\w-]{20,}"$/)
	t.is(first.headers['cache-control'], 'no-store')

	const again = await get('/templates', { 'if-none-match': etag })
	t.is(again.statusCode, 304)
	t.is(again.body, '')
	t.is(again.headers.etag, etag)
	t.is(again.headers['cache-control'], 'no-store')
	t.is(again.headers['content-type'], undefined)
	t.is(again.headers['content-length'], undefined)
	t.truthy(again.headers['x-request-id'])

	await create('Two')
	const changed = await get('/templates', { 'if-none-match': etag })
	t.is(changed.statusCode, 200)
	t.is(changed.json().total, 2)
	t.not(changed.headers.etag, etag)
})

test('a list that is written in pieces is compared, too', async (t) => {
	const { get, create } = await setupReading(t)
	for (let n = 0; n < 6; n++) await create(`Template ${n}`)
	const etag = String((await get('/templates')).headers.etag)
	t.is((await get('/templates', { 'if-none-match': etag })).statusCode, 304)
})

test('the header may name several versions, weak or strong, or any', async (t) => {
	const { get } = await setupReading(t)
	const etag = String((await get('/segments')).headers.etag)
	const strong = etag.replace('W/', '')
	for (const known of [strong, `"a", ${etag}`, `${strong},"b"`, '*'])
		t.is((await get('/segments', { 'if-none-match': known })).statusCode, 304, known)
	for (const other of ['"a"', '', etag.toUpperCase(), etag.slice(0, -2)])
		t.is((await get('/segments', { 'if-none-match': other })).statusCode, 200, other)
})

test('what is asked for with a key has a version, too', async (t) => {
	const { get, withSecretKey } = await setupReading(t)
	const first = await get('/segments', {}, withSecretKey)
	t.is(first.headers['cache-control'], 'no-store')
	const known = { 'if-none-match': String(first.headers.etag) }
	t.is((await get('/segments', known, withSecretKey)).statusCode, 304)
})

test('keys, mails, errors and large answers have no version', async (t) => {
	const { get, create, project } = await setupReading(t)
	const large = await create('Large', 'x'.repeat(300_000))
	const statuses: Record<string, number> = {
		[`/projects/${project.id}/webhook-secret`]: 200,
		'/users/@me/projects': 200,
		[`/emails/${crypto.randomUUID()}`]: 404,
		'/nowhere': 404,
		'/mailbox/messages?limit=0': 400,
	}
	for (const [url, status] of Object.entries(statuses)) {
		const answer = await get(url, { 'if-none-match': '*' })
		t.is(answer.statusCode, status, url)
		t.is(answer.headers.etag, undefined, url)
		t.is(answer.headers['cache-control'], 'no-store', url)
	}
	t.is((await get(`/templates/${large}`, { 'if-none-match': '*' })).statusCode, 200)
})

test('the contents of mails have no version, and a list without them has one', async (t) => {
	const { get, pool, project } = await setupReading(t)
	const { rows } = await pool.query<{ id: string }>(
		`insert into emails (project_id, "to", "from", subject, body, source_type)
		values ($1, 'a@example.org', 'b@example.com', 'S', 'B', 'TRANSACTIONAL') returning id`,
		[project.id],
	)
	const { id } = rows[0]!
	for (const url of ['/emails', `/emails/${id}`, `/emails/${id}/parts`, `/emails/${id}/source`]) {
		const answer = await get(url)
		t.is(answer.statusCode, 200, url)
		t.is(answer.headers.etag, undefined, url)
		t.is(answer.headers['cache-control'], 'no-store', url)
	}
	const brief = await get('/emails?bodies=false')
	t.is(brief.headers['cache-control'], 'no-store')
	t.is(brief.json().data[0].body, null)
	const again = await get('/emails?bodies=false', { 'if-none-match': String(brief.headers.etag) })
	t.is(again.statusCode, 304)
})

test('the list of mails has a new version once a mail, its campaign or their number changes', async (t) => {
	const { get, pool, project } = await setupReading(t)
	const changeOne = (sql: string) => pool.query(sql, [project.id])
	await changeOne(
		`insert into campaigns (project_id, name, subject, body, "from", audience_type)
		values ($1, 'C', 'Before', 'B', 'a@example.com', 'ALL')`,
	)
	await changeOne(
		`insert into emails (project_id, "to", campaign_id, source_type, status)
		select project_id, 'a@example.org', id, 'CAMPAIGN', 'SENT' from campaigns where project_id = $1`,
	)
	const one = (await get('/emails?bodies=false')).json().data[0]
	const lists = [
		'/emails?bodies=false',
		'/emails?bodies=false&status=SENT',
		`/emails?bodies=false&campaignId=${one.campaignId}`,
		`/emails?bodies=false&search=${one.id}`,
		'/emails?bodies=false&from=2020-01-01T00:00:00Z',
	]
	const changes = [
		`update emails set opens = 1 where project_id = $1`,
		`update campaigns set subject = 'After' where project_id = $1`,
		`insert into emails (project_id, "to", campaign_id, source_type, status)
		select project_id, 'b@example.org', id, 'CAMPAIGN', 'SENT' from campaigns where project_id = $1`,
		`update emails set status = 'BOUNCED' where project_id = $1`,
	]
	let known: Record<string, string> = {}
	for (const change of [null, ...changes]) {
		if (change) await changeOne(change)
		const now: Record<string, string> = {}
		for (const url of lists) {
			const answer = await get(url, known[url] ? { 'if-none-match': known[url] } : {})
			const isOfOneMail = url.includes('search') && change === changes[2]
			t.is(answer.statusCode, isOfOneMail ? 304 : 200, `${url} after ${change}`)
			now[url] = String(answer.headers.etag)
			const again = await get(url, { 'if-none-match': now[url]! })
			t.is(again.statusCode, 304, `${url} again after ${change}`)
			const another = await get(url)
			t.is(another.headers['content-type'], 'application/json; charset=utf-8')
			if (answer.statusCode === 200) t.is(another.body, answer.body)
		}
		known = now
	}
	t.is((await get(lists[1]!)).json().total, 0)
})

test('callers of a project share the reading of a list, and other projects have versions of their own', async (t) => {
	const { app, get, pool, orm, withSecretKey } = await setupReading(t)
	const url = '/emails?bodies=false&status=FAILED'
	const asked = recordQueries(pool)
	const isRead = () => asked.splice(0).some((text) => text.includes('render_fault'))
	const first = await get(url)
	t.true(isRead())
	const shared = await get(url, {}, withSecretKey)
	t.is(shared.statusCode, 200)
	t.is(shared.body, first.body)
	t.is(shared.headers.etag, first.headers.etag)
	t.false(isRead())
	const { withSecretKey: headers } = await createProject(orm)
	const theirs = await app.inject({ url, headers })
	t.is(theirs.body, first.body)
	t.not(theirs.headers.etag, first.headers.etag)
})
