import test from 'ava'
import { chores } from '../db/housekeeping.ts'
import { addresses, openSegments, plan } from './helpers/segments.ts'
import { lockWaits } from './helpers/locks.ts'

test('members are added and removed, and the counts show the actual changes', async (t) => {
	const { call, contact, entries } = await openSegments(t)
	await contact('a@example.com')
	await contact('b@example.com')
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const add = async (body: object) => (await call('POST', `/${id}/members`, body)).json()
	const remove = async (emails: string[]) =>
		(await call('DELETE', `/${id}/members`, { emails })).json()
	const emails = ['A@Example.com ', 'b@example.com', 'a@example.com', 'Nobody@example.com']
	t.deepEqual(await add({ emails }), { added: 2, created: 0, notFound: ['Nobody@example.com'] })
	t.deepEqual(await add({ emails }), { added: 0, created: 0, notFound: ['Nobody@example.com'] })
	const created = { emails, createMissing: true, subscribed: false }
	t.deepEqual(await add(created), { added: 1, created: 1, notFound: [] })
	t.is((await call('GET', `/${id}`)).json().memberCount, 3)
	const page = (await call('GET', `/${id}/contacts`)).json()
	t.like(page, { total: 3, page: 1, totalPages: 1 })
	t.is(addresses(page)[0], 'nobody@example.com')
	t.deepEqual(
		page.data.map(({ subscribed }: { subscribed: boolean }) => subscribed),
		[false, true, true],
	)
	t.deepEqual(await remove(['b@example.com', 'B@example.com', 'unknown@example.com']), {
		removed: 1,
	})
	t.deepEqual(await remove(['b@example.com']), { removed: 0 })
	t.is((await call('GET', `/${id}`)).json().memberCount, 2)
	t.deepEqual(await entries(), [])
})

test('with trackMembership each entry and exit is an event', async (t) => {
	const { call, entries, events } = await openSegments(t)
	const body = { name: 'Мой список', type: 'STATIC', trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const emails = ['a@example.com', 'b@example.com']
	await call('POST', `/${id}/members`, { emails, createMissing: true })
	await call('POST', `/${id}/members`, { emails })
	await call('DELETE', `/${id}/members`, { emails: ['b@example.com', 'c@example.com'] })
	t.deepEqual(await entries(), [
		'a@example.com segment.мой-список.entry',
		'b@example.com segment.мой-список.entry',
		'b@example.com segment.мой-список.exit',
	])
	t.is((await events()).length, 3, 'new contacts have no event of subscription')
})

test('the same new address in many requests at once is one contact, one member and one event', async (t) => {
	const { call, entries } = await openSegments(t)
	const body = { name: 'Mine', type: 'STATIC', trackMembership: true }
	const { id } = (await call('POST', '', body)).json()
	const emails = Array.from({ length: 30 }, (_, i) => `c${i}@example.com`)
	const answers = await Promise.all(
		Array.from({ length: 10 }, (_, i) => {
			const mixed = i % 2 ? emails : emails.toReversed()
			return call('POST', `/${id}/members`, { emails: mixed, createMissing: true })
		}),
	)
	const sums = { added: 0, created: 0 }
	for (const answer of answers) {
		t.is(answer.statusCode, 200)
		const { added, created, notFound } = answer.json()
		sums.added += added
		sums.created += created
		t.deepEqual(notFound, [])
	}
	t.deepEqual(sums, { added: 30, created: 30 })
	t.is((await entries()).length, 30)
	t.is((await call('GET', `/${id}`)).json().memberCount, 30)
})

test('deleting contacts takes them out of segments and their counts', async (t) => {
	const { call, app, pool, withSecretKey } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const emails = ['a@example.com', 'b@example.com', 'c@example.com']
	await call('POST', `/${id}/members`, { emails, createMissing: true })
	const [first] = (await call('GET', `/${id}/contacts`)).json().data
	await app.inject({ method: 'DELETE', url: `/contacts/${first.id}`, headers: withSecretKey })
	t.is((await call('GET', `/${id}`)).json().memberCount, 2)
	t.is((await call('GET', `/${id}/contacts`)).json().total, 2)
	await pool.query('delete from contacts')
	t.is((await call('GET', '')).json()[0].memberCount, 0)
	t.deepEqual((await call('POST', `/${id}/refresh`)).json(), { memberCount: 0 })
	t.is((await call('DELETE', `/${id}`)).statusCode, 204)
})

test('a segment with members can be deleted, and so can its project', async (t) => {
	const { call, pool } = await openSegments(t)
	for (const name of ['One', 'Two']) {
		const { id } = (await call('POST', '', { name, type: 'STATIC' })).json()
		const body = { emails: ['a@example.com', 'b@example.com'], createMissing: true }
		await call('POST', `/${id}/members`, body)
		if (name === 'One') t.is((await call('DELETE', `/${id}`)).statusCode, 204)
	}
	await pool.query('delete from projects')
	const { rows } = await pool.query(
		'select from segment_members union all select from segment_tallies',
	)
	t.deepEqual(rows, [])
})

test('a segment is deleted at once, and its many members by housekeeping', async (t) => {
	const { call, pool, projectId } = await openSegments(t)
	const create = async (name: string) =>
		(await call('POST', '', { name, type: 'STATIC' })).json().id as string
	const [id, other] = [await create('One'), await create('Two')]
	await pool.query(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.com', true from generate_series(1, 2100) n`,
		[projectId],
	)
	await pool.query(
		`insert into segment_members (project_id, segment_id, contact_id, computed)
		select project_id, unnest($1::uuid[]), id, false from contacts`,
		[[id, other]],
	)
	t.is((await call('DELETE', `/${id}`)).statusCode, 204)
	const count = async (table: string) => (await pool.query(`select from ${table}`)).rowCount
	t.is(await count('segment_members'), 4200, 'nobody has waited for them')
	const { remove } = chores.find(({ what }) => what === 'members of deleted segments')!
	const sweep = () => remove(pool, 2000, 30)
	t.deepEqual([await sweep(), await sweep(), await sweep()], [2000, 100, 0])
	t.is(await count('segment_members'), 2100)
	t.is(await count('removed_segments'), 0)
	t.is((await call('GET', `/${other}`)).json().memberCount, 2100)
})

test('a segment that is deleted while members are added is not there', async (t) => {
	const { call, contact, pool } = await openSegments(t)
	await contact('a@example.com')
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const other = await pool.connect()
	t.teardown(() => other.release())
	await other.query('begin; select from contacts for update')
	const emails = ['a@example.com', 'b@example.com']
	const adding = call('POST', `/${id}/members`, { emails, createMissing: true })
	await lockWaits(t, pool, 1)
	t.is((await call('DELETE', `/${id}`)).statusCode, 204)
	await other.query('commit')
	const answer = await adding
	t.is(answer.statusCode, 404)
	t.deepEqual(answer.json().error.details, { resource: 'segment', id })
	t.is((await pool.query('select from contacts')).rowCount, 1, 'nobody is created')
})

test('the members of a dynamic segment cannot be chosen', async (t) => {
	const { call } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Pro', condition: plan('pro') })).json()
	for (const method of ['POST', 'DELETE'] as const) {
		const answer = await call(method, `/${id}/members`, { emails: ['a@example.com'] })
		t.is(answer.statusCode, 400)
		t.is(answer.json().error.code, 'BAD_REQUEST')
	}
})

test('bad lists of addresses are refused whole, by the address that is wrong', async (t) => {
	const { call } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const lists: [unknown, string][] = [
		[undefined, 'emails'],
		['a@example.com', 'emails'],
		[[], 'emails'],
		[Array.from({ length: 501 }, (_, i) => `c${i}@example.com`), 'emails'],
		[['a@example.com', 'nonsense'], 'emails.1'],
		[[5], 'emails.0'],
	]
	for (const [emails, field] of lists)
		for (const method of ['POST', 'DELETE'] as const) {
			const answer = await call(method, `/${id}/members`, { emails, createMissing: true })
			t.is(answer.statusCode, 422)
			t.is(answer.json().error.errors[0].field, field)
		}
	t.is((await call('GET', `/${id}`)).json().memberCount, 0)
})

test('a misspelt member is refused before any contact is made', async (t) => {
	const { call } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const body = { emails: ['a@example.com'], createMissing: true, subscribe: false }
	const answer = await call('POST', `/${id}/members`, body)
	t.is(answer.statusCode, 422)
	t.is(
		answer.json().error.errors[0].message,
		'is not allowed here, only emails, createMissing and subscribed',
	)
	t.is((await call('GET', `/${id}`)).json().memberCount, 0)
})
