import test from 'ava'
import { createProject } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'
import { addresses, openSegments, plan } from './helpers/segments.ts'

test('a segment is created, read, listed newest first, changed and deleted', async (t) => {
	const { call, projectId } = await openSegments(t)
	const created = await call('POST', '', { name: 'Pro', condition: plan('pro') })
	t.is(created.statusCode, 201)
	const segment = created.json()
	t.like(segment, {
		projectId,
		name: 'Pro',
		description: null,
		type: 'DYNAMIC',
		condition: plan('pro'),
		trackMembership: false,
		memberCount: 0,
		computedAt: null,
	})
	const other = (await call('POST', '', { name: 'Other', type: 'STATIC' })).json()
	t.deepEqual((await call('GET', '')).json(), [other, segment])
	t.deepEqual((await call('GET', `/${segment.id}`)).json(), segment)
	const change = { name: 'Pros', description: 'Who pays', type: 'STATIC' }
	const changed = await call('PATCH', `/${segment.id}`, change)
	t.is(changed.statusCode, 200)
	t.like(changed.json(), { name: 'Pros', description: 'Who pays', type: 'DYNAMIC' })
	t.true(changed.json().updatedAt > segment.updatedAt)
	t.is((await call('PATCH', `/${segment.id}`, { description: null })).json().description, null)
	const gone = await call('DELETE', `/${segment.id}`)
	t.is(gone.statusCode, 204)
	t.is(gone.body, '')
	t.is((await call('GET', `/${segment.id}`)).statusCode, 404)
})

test('without a name or a condition the answer is the simple 400', async (t) => {
	const { call } = await openSegments(t)
	const bodies: [object, string][] = [
		[{ condition: plan('pro') }, 'name is required'],
		[{ name: 5, condition: plan('pro') }, 'name must be a string'],
		[{ name: 'Pro' }, 'condition is required'],
		[{ name: 'Pro', condition: null }, 'condition must be an object'],
		[{ name: 'Pro', condition: 'all' }, 'condition must be an object'],
		[{ name: 'Pro', type: 'DYNAMIC', condition: [] }, 'condition must be an object'],
	]
	for (const [body, error] of bodies) {
		const answer = await call('POST', '', body)
		t.is(answer.statusCode, 400, error)
		t.deepEqual(answer.json(), { error })
	}
	t.deepEqual((await call('GET', '')).json(), [])
})

test('every other fault is a 422 that names the field', async (t) => {
	const { call } = await openSegments(t)
	const bodies: [object, string, string][] = [
		[{ name: '' }, 'name', 'too_small'],
		[{ name: 'x'.repeat(101) }, 'name', 'too_big'],
		[{ description: 'x'.repeat(501) }, 'description', 'too_big'],
		[{ type: 'dynamic' }, 'type', 'invalid_enum_value'],
		[{ trackMembership: 'yes' }, 'trackMembership', 'invalid_type'],
		[{ condition: { logic: 'AND', groups: [] } }, 'condition.groups', 'too_small'],
	]
	for (const [body, field, code] of bodies) {
		const answer = await call('POST', '', { name: 'Pro', condition: plan('pro'), ...body })
		t.is(answer.statusCode, 422, field)
		t.like(answer.json().error.errors[0], { field, code })
	}
})

test('a static segment ignores any condition', async (t) => {
	const { call } = await openSegments(t)
	const created = await call('POST', '', { name: 'Mine', type: 'STATIC', condition: 'nonsense' })
	t.is(created.statusCode, 201)
	t.is(created.json().condition, null)
	const patched = await call('PATCH', `/${created.json().id}`, { condition: plan('pro') })
	t.is(patched.statusCode, 200)
	t.is(patched.json().condition, null)
})

test('the count is right at once, follows a changed condition and a refresh, and nothing else', async (t) => {
	const { call, contact, events } = await openSegments(t)
	await contact('a@example.com', { plan: 'pro' })
	await contact('b@example.com', { plan: 'pro' })
	await contact('c@example.com', { plan: 'free' })
	const body = { name: 'Plan', condition: plan('pro'), trackMembership: true }
	const { id, memberCount } = (await call('POST', '', body)).json()
	t.is(memberCount, 2)
	t.is((await call('PATCH', `/${id}`, { condition: plan('free') })).json().memberCount, 1)
	await contact('d@example.com', { plan: 'free' })
	t.is((await call('GET', `/${id}`)).json().memberCount, 1)
	t.deepEqual((await call('POST', `/${id}/refresh`)).json(), { memberCount: 2 })
	t.is((await call('GET', `/${id}`)).json().memberCount, 2)
	t.deepEqual(await events(), [])
})

test('after a change a tracked segment’s members come from its condition until a compute has stored them', async (t) => {
	const { call, contact } = await openSegments(t)
	const tracked = { name: 'Pro', condition: plan('pro'), trackMembership: true }
	const { id } = (await call('POST', '', tracked)).json()
	const filters = [{ field: `segment.${id}`, operator: 'notMemberOfSegment' }]
	const condition = { logic: 'AND', groups: [{ filters }] }
	const outside = (await call('POST', '', { name: 'Outside', condition })).json().id
	const found = async () => addresses((await call('GET', `/${outside}/contacts`)).json())
	const compute = async () => t.is((await call('POST', `/${id}/compute`)).statusCode, 200)

	await contact('a@example.com', { plan: 'pro' })
	await contact('b@example.com', { plan: 'free' })
	t.deepEqual(await found(), ['b@example.com'])
	await compute()
	await contact('b@example.com', { plan: 'pro' })
	t.deepEqual(await found(), ['b@example.com'], 'as it is stored')
	await compute()
	t.deepEqual(await found(), [])

	await call('PATCH', `/${id}`, { condition: plan('free') })
	t.deepEqual(await found(), ['b@example.com', 'a@example.com'])
	await compute()
	await call('PATCH', `/${id}`, { trackMembership: false })
	await contact('a@example.com', { plan: 'free' })
	await call('PATCH', `/${id}`, { trackMembership: true })
	t.deepEqual(await found(), ['b@example.com'])
})

test('the members of a dynamic segment are those of this moment, newest first', async (t) => {
	const { call, contact } = await openSegments(t)
	const { id } = (await call('POST', '', { name: 'Pro', condition: plan('pro') })).json()
	for (const name of ['a', 'b', 'c']) await contact(`${name}@example.com`, { plan: 'pro' })
	await contact('other@example.com', { plan: 'free' })
	const first = (await call('GET', `/${id}/contacts?pageSize=2`)).json()
	t.like(first, { page: 1, pageSize: 2, total: 3, totalPages: 2 })
	t.deepEqual(addresses(first), ['c@example.com', 'b@example.com'])
	t.like(first.data[0], { subscribed: true, data: { plan: 'pro' } })
	t.true(Number.isFinite(Date.parse(first.data[0].createdAt)))
	t.deepEqual(addresses((await call('GET', `/${id}/contacts?pageSize=2&page=2`)).json()), [
		'a@example.com',
	])
	t.is((await call('GET', `/${id}/contacts?pageSize=1000`)).json().pageSize, 100)
	for (const query of ['page=0', 'page=x', 'pageSize=0', 'pageSize=-1'])
		t.is((await call('GET', `/${id}/contacts?${query}`)).statusCode, 400, query)
})

test('a segment of another project does not exist', async (t) => {
	const { call, app, orm } = await openSegments(t)
	const { withSecretKey } = await createProject(orm)
	const { id } = (await call('POST', '', { name: 'Mine', type: 'STATIC' })).json()
	const body = { emails: ['a@example.com'] }
	const requests = [
		['GET', `/segments/${id}`],
		['PATCH', `/segments/${id}`, { name: 'Theirs' }],
		['DELETE', `/segments/${id}`],
		['GET', `/segments/${id}/contacts`],
		['POST', `/segments/${id}/members`, body],
		['DELETE', `/segments/${id}/members`, body],
		['POST', `/segments/${id}/compute`],
		['POST', `/segments/${id}/refresh`],
		['GET', '/segments/no-uuid'],
	] as const
	for (const [method, url, payload] of requests) {
		const request = { method, url, headers: withSecretKey }
		const answer = await app.inject(payload ? { ...request, payload } : request)
		t.is(answer.statusCode, 404, `${method} ${url}`)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	t.is((await call('GET', `/${id}`)).json().name, 'Mine')
})

test('counting keeps nobody from changing what segments refer to', async (t) => {
	const { app, call, pool, projectId, withSecretKey: headers } = await openSegments(t)
	await pool.query(
		`insert into domains (project_id, domain, verified_at) values ($1, 'example.com', now())`,
		[projectId],
	)
	const add = async (name: string) =>
		(await call('POST', '', { name, condition: plan(name) })).json().id as string
	const [id, named] = [await add('one'), await add('two')]
	const unused = [await add('three'), await add('four'), await add('five')]
	const condition = {
		logic: 'AND',
		groups: [{ filters: [{ field: `segment.${named}`, operator: 'memberOfSegment' }] }],
	}
	const campaign = {
		name: 'News',
		subject: 'News',
		body: 'News',
		from: 'us@example.com',
		audienceType: 'FILTERED',
		audienceCondition: condition,
	}
	const counting = [
		() => call('POST', '', { name: 'six', condition }),
		() => call('PATCH', `/${id}`, { condition }),
		() => app.inject({ method: 'POST', url: '/campaigns', headers, payload: campaign }),
	]
	const slow = await pool.connect()
	t.teardown(() => slow.release(true))
	for (const [turn, count] of counting.entries()) {
		await slow.query('begin; lock table contacts in access exclusive mode')
		const counted = count()
		await lockWaits(t, pool, 1)
		t.is((await call('DELETE', `/${unused[turn]}`)).statusCode, 204)
		await slow.query('rollback')
		const { statusCode, body } = await counted
		t.true([200, 201].includes(statusCode), body)
	}
})

test('a segment that cannot be counted in time is created if it is tracked, and counted by a compute', async (t) => {
	const { call, contact, pool } = await openSegments(t)
	await contact('ann@example.com', { plan: 'pro' })
	const holder = await pool.connect()
	t.teardown(() => holder.release(true))
	const inVain = async (count: () => ReturnType<typeof call>) => {
		await holder.query('begin; lock table contacts in access exclusive mode')
		const counted = count()
		await lockWaits(t, pool, 1)
		// Like the end of its time.
		await pool.query(`select pg_cancel_backend(pid) from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`)
		const answer = await counted
		await holder.query('rollback')
		return answer
	}
	const body = { name: 'Pro', condition: plan('pro') }
	t.is((await inVain(() => call('POST', '', body))).statusCode, 503)
	const created = await inVain(() => call('POST', '', { ...body, trackMembership: true }))
	t.is(created.statusCode, 201)
	const { id, memberCount } = created.json()
	t.is(memberCount, 0)
	t.like((await call('POST', `/${id}/compute`)).json(), { added: 1, total: 1 })
	const change = { condition: plan('free') }
	t.like((await inVain(() => call('PATCH', `/${id}`, change))).json(), {
		...change,
		memberCount: 1,
	})
	t.like((await call('POST', `/${id}/compute`)).json(), { removed: 1, total: 0 })
	const untracked = { condition: plan('pro'), trackMembership: false }
	t.is((await inVain(() => call('PATCH', `/${id}`, untracked))).statusCode, 503)
	t.like((await call('GET', `/${id}`)).json(), { ...change, trackMembership: true })
})
