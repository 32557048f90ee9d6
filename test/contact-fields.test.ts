import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createProject, setup as setupApp } from './helpers/app.ts'

interface Fields {
	fields: { field: string; type: string; coverage: number }[]
	count: number
}

async function setup(t: ExecutionContext) {
	const context = await setupApp(t)
	const { app, withSecretKey } = context
	const call = (method: 'GET' | 'POST' | 'DELETE' | 'PATCH', url: string, payload?: object) =>
		app.inject({ method, url, headers: withSecretKey, ...(payload ? { payload } : {}) })
	const post = async (email: string, data: object) =>
		(await call('POST', '/contacts', { email, data })).json<{ id: string }>()
	const custom = async () => (await call('GET', '/contacts/fields')).json<Fields>().fields.slice(4)
	const valuesOf = async (field: string, limit = 100) =>
		(await call('GET', `/contacts/fields/${field}/values?limit=${limit}`)).json<{
			values: unknown[]
		}>().values
	return { ...context, call, post, custom, valuesOf }
}

test('without contacts there are the standard fields', async (t) => {
	const { call } = await setup(t)
	t.deepEqual((await call('GET', '/contacts/fields')).json(), {
		fields: [
			{ field: 'email', type: 'string', coverage: 100 },
			{ field: 'subscribed', type: 'boolean', coverage: 100 },
			{ field: 'createdAt', type: 'date', coverage: 100 },
			{ field: 'updatedAt', type: 'date', coverage: 100 },
		],
		count: 4,
	})
})

test('custom fields come by name with their commonest type and their coverage', async (t) => {
	const { post, custom } = await setup(t)
	await post('a@example.com', { z: 'x', mixed: 1, day: '2026-01-31', list: [1], deep: { a: 1 } })
	await post('b@example.com', { mixed: 'x', time: '2026-01-31T12:00:00.000Z', yes: true })
	await post('c@example.com', { mixed: 2, z: '2026-13-01' })
	t.deepEqual(await custom(), [
		{ field: 'data.day', type: 'date', coverage: 33 },
		{ field: 'data.deep', type: 'object', coverage: 33 },
		{ field: 'data.list', type: 'array', coverage: 33 },
		{ field: 'data.mixed', type: 'number', coverage: 100 },
		{ field: 'data.time', type: 'date', coverage: 33 },
		{ field: 'data.yes', type: 'boolean', coverage: 33 },
		{ field: 'data.z', type: 'string', coverage: 67 },
	])
})

test('with too many fields, those of the most contacts are listed', async (t) => {
	const { app, post, call, custom, withPublicKey: headers } = await setup(t)
	const data = Object.fromEntries(Array.from({ length: 5500 }, (_, n) => [`k${n}`, 1]))
	await app.inject({
		method: 'POST',
		url: '/v1/track',
		headers,
		payload: { email: 'a@example.com', event: 'signup', data },
	})
	await post('b@example.com', { zip: '1010', zone: null })
	await post('a@example.com', { zip: '2020' })
	const fields = await custom()
	t.is(fields.length, 5000)
	t.deepEqual(fields.at(-1), { field: 'data.zip', type: 'string', coverage: 100 })
	const asked = await call('GET', '/workflows/fields?eventName=signup')
	t.is(asked.json<Fields>().count, 4 + 5000 + 5000)
	// The others are stored anyway.
	const names = new Set(fields.map(({ field }) => field))
	const unlisted = Object.keys(data).find((key) => !names.has(`data.${key}`))!
	t.is((await call('GET', `/contacts/fields/${unlisted}/usage`)).json().contactCount, 1)
	t.deepEqual((await call('DELETE', `/contacts/fields/${unlisted}`)).json(), { deletedFrom: 1 })
})

test('a change is in the fields and values as soon as it is answered', async (t) => {
	const { call, post, custom, valuesOf } = await setup(t)
	const { id } = await post('a@example.com', { plan: 'pro' })
	t.deepEqual(await custom(), [{ field: 'data.plan', type: 'string', coverage: 100 }])
	await call('PATCH', `/contacts/${id}`, { data: { plan: 5 } })
	t.deepEqual(await custom(), [{ field: 'data.plan', type: 'number', coverage: 100 }])
	t.deepEqual(await valuesOf('plan'), [5])
	await call('PATCH', `/contacts/${id}`, { data: null })
	t.deepEqual(await custom(), [])
	await post('a@example.com', { plan: 'pro' })
	t.is((await call('DELETE', `/contacts/${id}`)).statusCode, 204)
	t.deepEqual(await custom(), [])
	t.deepEqual(await valuesOf('plan'), [])
})

test('values are distinct and sorted, with or without data., and of this project only', async (t) => {
	const { app, orm, call, post, valuesOf } = await setup(t)
	for (const [i, v] of ['b', 'a', 10, 9, true, 'b', { o: 1 }, [1], 'x'.repeat(501)].entries())
		await post(`p${i}@example.com`, { v })
	const { withSecretKey: headers } = await createProject(orm)
	const foreign = { email: 'a@example.com', data: { v: 'foreign' } }
	await app.inject({ method: 'POST', url: '/contacts', headers, payload: foreign })
	t.deepEqual(await valuesOf('v'), ['a', 'b', 9, 10, true])
	t.deepEqual(await valuesOf('data.v', 2), ['a', 'b'])
	t.deepEqual((await call('GET', '/contacts/fields/v/values?limit=999')).json(), {
		field: 'v',
		values: ['a', 'b', 9, 10, true],
		count: 5,
		limit: 200,
	})
	t.deepEqual(await valuesOf('subscribed'), [true, false])
	t.deepEqual(await valuesOf('email'), [])
	t.deepEqual(await valuesOf('unknown'), [])
	for (const bad of ['0', 'x', '-1'])
		t.is((await call('GET', `/contacts/fields/v/values?limit=${bad}`)).statusCode, 400)
})

test('usage names the segments whose conditions mention the field, at any depth', async (t) => {
	const { pool, project, call, post } = await setup(t)
	await post('a@example.com', { plan: 'pro', planned: 1 })
	const filter = (field: string) => ({ field, operator: 'exists' })
	const deep = { logic: 'AND', groups: [{ filters: [], conditions: null }] }
	const segments: [string, object | null][] = [
		['Plans', { logic: 'AND', groups: [{ filters: [filter('email'), filter('data.plan')] }] }],
		[
			'Deep',
			{
				...deep,
				groups: [
					{
						filters: [],
						conditions: { logic: 'OR', groups: [{ filters: [filter('data.plan.x')] }] },
					},
				],
			},
		],
		['Other', { logic: 'AND', groups: [{ filters: [filter('data.planned')] }] }],
		['Static', null],
	]
	for (const [name, condition] of segments)
		await pool.query(
			'insert into segments (project_id, name, type, condition) values ($1, $2, $3, $4)',
			[project.id, name, condition ? 'DYNAMIC' : 'STATIC', condition],
		)
	const usage = (await call('GET', '/contacts/fields/plan/usage')).json()
	t.deepEqual(
		usage.usedInSegments.map(({ name }: { name: string }) => name),
		['Deep', 'Plans'],
	)
	t.like(usage, { usedInCampaigns: [], usedInWorkflows: [], contactCount: 1, canDelete: false })
	const email = (await call('GET', '/contacts/fields/email/usage')).json()
	t.like(email, { contactCount: 1, canDelete: false })
	t.is(email.usedInSegments.length, 1)
	t.like((await call('GET', '/contacts/fields/free/usage')).json(), {
		contactCount: 0,
		canDelete: true,
	})
	const refused = await call('DELETE', '/contacts/fields/data.plan')
	t.is(refused.statusCode, 409)
	t.is(refused.json().error.details.usedInSegments.length, 2)
	t.is((await call('GET', '/contacts/fields/plan/usage')).json().contactCount, 1)
})

test('every field that is listed can be named in a condition, which then uses it', async (t) => {
	const { app, withSecretKey: headers, call, post, custom, valuesOf } = await setup(t)
	const keys = ['.', 'a..b', 'address.city', 'tel', 'tel.', `"; drop'$1.{0}`]
	await post('a@example.com', Object.fromEntries(keys.map((key) => [key, `of ${key}`])))
	await post('b@example.com', {})
	const fields = (await custom()).map(({ field }) => field)
	t.deepEqual(fields.toSorted(), keys.map((key) => `data.${key}`).toSorted())
	const segmentOn = async (field: string, value: string) => {
		const filters = [{ field, operator: 'equals', value }]
		const payload = { name: field, condition: { logic: 'AND', groups: [{ filters }] } }
		const answer = await app.inject({ method: 'POST', url: '/segments', headers, payload })
		t.is(answer.statusCode, 201, answer.body)
		t.is(answer.json().memberCount, 1, field)
		return answer.json<{ id: string }>().id
	}
	for (const key of keys) {
		const field = `data.${key}`
		const id = await segmentOn(field, `of ${key}`)
		const url = `/contacts/fields/${encodeURIComponent(field)}`
		t.deepEqual(await valuesOf(encodeURIComponent(field)), [`of ${key}`])
		t.like((await call('GET', `${url}/usage`)).json(), {
			usedInSegments: [{ id, name: field }],
			contactCount: 1,
			canDelete: false,
		})
		t.is((await call('DELETE', url)).statusCode, 409)
		await call('DELETE', `/segments/${id}`)
		t.deepEqual((await call('DELETE', url)).json(), { deletedFrom: 1 })
	}
	t.deepEqual(await custom(), [])
})

test('a condition on the activity of mails does not use the address', async (t) => {
	const { call } = await setup(t)
	const filters = ['email.opened', 'email.clicked'].map((field) => ({
		field,
		operator: 'triggered',
	}))
	const condition = { logic: 'AND', groups: [{ filters }] }
	await call('POST', '/segments', { name: 'Readers', condition })
	const usage = (await call('GET', '/contacts/fields/email/usage')).json()
	t.deepEqual(usage.usedInSegments, [])
})

test('a field without a name is unknown, and nothing is done to all contacts', async (t) => {
	const { call, post, valuesOf } = await setup(t)
	await post('a@example.com', { plan: 'pro', 'data.': 'odd' })
	for (const [method, url] of [
		['GET', '/contacts/fields/data./values'],
		['GET', '/contacts/fields/data./usage'],
		['DELETE', '/contacts/fields/data.'],
		['GET', '/contacts/fields//values'],
		['GET', '/contacts/fields//usage'],
		['DELETE', '/contacts/fields/'],
	] as const) {
		const answer = await call(method, url)
		t.is(answer.statusCode, 404, url)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	t.deepEqual(await valuesOf('data.data.'), ['odd'])
	t.deepEqual((await call('DELETE', '/contacts/fields/data.data.')).json(), { deletedFrom: 1 })
})

test('deleting a field takes it from every contact of the project, and from no other', async (t) => {
	const { orm, app, call, post, custom, wakes } = await setup(t)
	const { id } = await post('a@example.com', { plan: 'pro', age: 1 })
	await post('b@example.com', { plan: 'free' })
	await post('c@example.com', { age: 2 })
	const { withSecretKey: headers } = await createProject(orm)
	const payload = { email: 'a@example.com', data: { plan: 'pro' } }
	await app.inject({ method: 'POST', url: '/contacts', headers, payload })
	const answer = await call('DELETE', '/contacts/fields/plan')
	t.is(answer.statusCode, 200)
	t.deepEqual(answer.json(), { deletedFrom: 2 })
	t.deepEqual((await call('GET', `/contacts/${id}`)).json().data, { age: 1 })
	t.deepEqual(await custom(), [{ field: 'data.age', type: 'number', coverage: 67 }])
	const foreign = await app.inject({ url: '/contacts/fields/plan/values', headers })
	t.deepEqual(foreign.json().values, ['pro'])
	t.deepEqual((await call('DELETE', '/contacts/fields/plan')).json(), { deletedFrom: 0 })
	t.is((await call('DELETE', '/contacts/fields/subscribed')).statusCode, 400)
	t.is(wakes.count, 0)
})

test('a field that few of many contacts have is deleted page by page', async (t) => {
	const { pool, project, call } = await setup(t)
	await pool.query(
		`insert into contacts (project_id, email, subscribed, data)
		select $1, n || '@example.com', true,
			case when n = 1 or n between 7000 and 12500 then '{"plan": "pro"}'::jsonb else '{"age": 1}' end
		from generate_series(1, 15000) n`,
		[project.id],
	)
	t.deepEqual((await call('DELETE', '/contacts/fields/plan')).json(), { deletedFrom: 5502 })
	t.is((await pool.query(`select from contacts where data ? 'plan'`)).rowCount, 0)
	t.is((await pool.query(`select from contacts where data ? 'age'`)).rowCount, 9498)
})

test('a field of more contacts than a request can wait for is deleted by a job', async (t) => {
	const { pool, project, call, wakes } = await setup(t)
	await pool.query(
		`insert into contact_fields (project_id, key, type, count) values ($1, 'plan', 'string', 100001)`,
		[project.id],
	)
	const answer = await call('DELETE', '/contacts/fields/plan')
	t.is(answer.statusCode, 202)
	t.is(answer.headers['location'], `/contacts/bulk/${answer.json().jobId}`)
	const { jobId } = answer.json()
	const job = await call('GET', `/contacts/bulk/${jobId}`)
	t.like(job.json(), { id: jobId, type: 'delete-field', state: 'waiting' })
	t.is(wakes.count, 1)
})
