import test from 'ava'
import type { ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { createProject, setup as setupApp } from './helpers/app.ts'

interface Contact {
	id: string
	email: string
	subscribed: boolean
	data: Record<string, unknown>
	createdAt: string
	updatedAt: string
	_meta?: { isNew: boolean; isUpdate: boolean }
}

async function setup(t: ExecutionContext) {
	const context = await setupApp(t)
	const { app, pool, withSecretKey } = context
	const call = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers: withSecretKey, ...(payload ? { payload } : {}) })
	const post = async (body: object) => (await call('POST', '/contacts', body)).json<Contact>()
	const events = async () => {
		const { rows } = await pool.query<{ name: string }>('select name from events order by id')
		return rows.map(({ name }) => name)
	}
	return { ...context, call, post, events }
}

test('an unknown address is created with 201, a known one updated with 200', async (t) => {
	const { call, events } = await setup(t)
	const created = await call('POST', '/contacts', {
		email: ' Ann@Example.com ',
		data: { plan: 'a' },
	})
	t.is(created.statusCode, 201)
	const contact = created.json<Contact>()
	t.like(contact, { email: 'ann@example.com', subscribed: true, data: { plan: 'a' } })
	t.deepEqual(contact._meta, { isNew: true, isUpdate: false })
	const updated = await call('POST', '/contacts', { email: 'ann@example.com', data: { age: 3 } })
	t.is(updated.statusCode, 200)
	t.like(updated.json(), { id: contact.id, data: { plan: 'a', age: 3 } })
	t.deepEqual(updated.json<Contact>()._meta, { isNew: false, isUpdate: true })
	t.deepEqual(await events(), [])
})

test('the answer to a write equals the answer of GET', async (t) => {
	const { call, post } = await setup(t)
	const { _meta, ...contact } = await post({ email: 'ann@example.com' })
	t.truthy(_meta)
	t.deepEqual((await call('GET', `/contacts/${contact.id}`)).json(), contact)
	t.deepEqual(contact.data, {})
	t.regex(contact.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
})

test('a missing address is the simple 400, a bad one a 422', async (t) => {
	const { call } = await setup(t)
	for (const body of [undefined, {}, { subscribed: 'x' }]) {
		const missing = await call('POST', '/contacts', body)
		t.is(missing.statusCode, 400)
		t.deepEqual(missing.json(), { error: 'email is required' })
	}
	for (const email of ['ann', 'ann@example', '', 5, null, `${'a'.repeat(250)}@example.com`]) {
		const bad = await call('POST', '/contacts', { email })
		t.is(bad.statusCode, 422, String(email))
		t.is(bad.json().error.errors[0].field, 'email')
	}
})

test('the data rules apply: null deletes, empty values are ignored, one-off values are not stored, reserved keys are dropped', async (t) => {
	const { call, post } = await setup(t)
	const { id } = await post({
		email: 'ann@example.com',
		data: { a: 1, b: 'x', c: true, d: [1], e: { f: 1 } },
	})
	const change = {
		a: null,
		b: '',
		c: { value: 'now', persistent: false },
		g: { value: 'kept', persistent: true },
		id: 'x',
		email: 'x',
		service_id: 'x',
		service_email: 'x',
		unsubscribeUrl: 'x',
		subscribeUrl: 'x',
		manageUrl: 'x',
	}
	const expected = { b: 'x', c: true, d: [1], e: { f: 1 }, g: 'kept' }
	t.deepEqual((await post({ email: 'ann@example.com', data: change })).data, expected)
	const patched = await call('PATCH', `/contacts/${id}`, { data: { ...change, g: null } })
	t.deepEqual(patched.json().data, { b: 'x', c: true, d: [1], e: { f: 1 } })
})

test('data of another kind than an object is refused; null clears it all on PATCH', async (t) => {
	const { call, post } = await setup(t)
	const { id } = await post({ email: 'ann@example.com', data: { a: 1 } })
	for (const data of [[], 'x', 5, true]) {
		t.is((await call('POST', '/contacts', { email: 'ann@example.com', data })).statusCode, 422)
		t.is((await call('PATCH', `/contacts/${id}`, { data })).statusCode, 422)
	}
	const locale = await call('PATCH', `/contacts/${id}`, { data: { locale: 5 } })
	t.is(locale.json().error.errors[0].field, 'data.locale')
	t.deepEqual((await call('PATCH', `/contacts/${id}`, {})).json().data, { a: 1 })
	t.deepEqual((await call('PATCH', `/contacts/${id}`, { data: null })).json().data, {})
})

test('data keys are returned exactly as given', async (t) => {
	const { call } = await setup(t)
	const data = { 'Company\nName': 'X', 'a\u2028b': 1, gone: null, plain: { 'c\rd': [true] } }
	const made = await call('POST', '/contacts', { email: 'a@example.com', data })
	const { gone: _, ...kept } = data
	t.deepEqual(made.json().data, kept)
	t.deepEqual((await call('GET', `/contacts/${made.json().id}`)).json().data, kept)
})

test('a number too large to store leaves the former value', async (t) => {
	const { app, call, withPublicKey, withSecretKey } = await setup(t)
	const email = 'a@example.com'
	const { id } = (await call('POST', '/contacts', { email, data: { n: 5 } })).json<{ id: string }>()
	const data = '"data":{"n":1e400}'
	for (const [method, url, payload] of [
		['POST', '/contacts', `{"email":"${email}",${data}}`],
		['PATCH', `/contacts/${id}`, `{${data}}`],
		['POST', '/v1/track', `{"email":"${email}","event":"e",${data}}`],
		['POST', '/v1/send', `{"to":"${email}","from":"a@b.org","subject":"s","body":"b",${data}}`],
	] as const) {
		const keyed = url === '/v1/track' ? withPublicKey : withSecretKey
		const headers = { ...keyed, 'content-type': 'application/json' }
		const answer = await app.inject({ method, url, headers, payload })
		t.is(answer.statusCode, 422, url)
		t.like(answer.json().error.errors, [{ field: 'data.n', code: 'invalid_type' }])
	}
	t.deepEqual((await call('GET', `/contacts/${id}`)).json().data, { n: 5 })
})

test('data may have 64 KB together with stored data, and not a byte more', async (t) => {
	const { call, post } = await setup(t)
	const filler = (used: object) => 'x'.repeat(65_536 - JSON.stringify({ ...used, fill: '' }).length)
	const used = { list: [1, 2, { a: 'é', b: null }], more: {}, text: 'a, b: c' }
	const { id } = await post({ email: 'ann@example.com', data: used })
	const fill = filler(used).slice(1)
	const patch = (data: object) => call('PATCH', `/contacts/${id}`, { data })
	const full = await patch({ fill })
	t.is(full.statusCode, 200)
	t.is(Buffer.byteLength(JSON.stringify(full.json().data)), 65_536)
	for (const refused of [
		await patch({ fill: `${fill}x` }),
		await call('POST', '/contacts', {
			email: 'ann@example.com',
			subscribed: false,
			data: { b: 1 },
		}),
	]) {
		t.is(refused.statusCode, 422)
		t.like(refused.json().error.errors[0], { field: 'data', code: 'too_big' })
	}
	t.deepEqual((await call('GET', `/contacts/${id}`)).json(), full.json())
	t.is((await patch({ fill: 'x', b: 1 })).statusCode, 200)
})

test('a contact with too much data can leave, be tracked and lose some of it', async (t) => {
	const { call, post, app, pool, withPublicKey } = await setup(t)
	const email = 'ann@example.com'
	const { id } = await post({ email })
	const tooMuch = { a: 'x'.repeat(70_000), b: 'x'.repeat(1000) }
	const subscribe = () =>
		pool.query('update contacts set subscribed = true, data = $1', [JSON.stringify(tooMuch)])
	const tracked = (payload: object) =>
		app.inject({
			method: 'POST',
			url: '/v1/track',
			headers: withPublicKey,
			payload: { email, event: 'seen', ...payload },
		})
	for (const leave of [
		() => call('PATCH', `/contacts/${id}`, { subscribed: false }),
		() => call('POST', '/contacts', { email, subscribed: false }),
		() => tracked({ subscribed: false }),
	]) {
		await subscribe()
		const answer = await leave()
		t.true(answer.statusCode < 300, answer.body)
		t.false((await call('GET', `/contacts/${id}`)).json().subscribed)
	}
	t.is((await tracked({})).statusCode, 200)
	t.is((await call('PATCH', `/contacts/${id}`, { data: { b: null } })).statusCode, 200)
	t.is((await call('PATCH', `/contacts/${id}`, { data: { c: 1 } })).statusCode, 422)
})

test('only a new contact is subscribed by default; only a change of the subscription emits an event', async (t) => {
	const { call, post, events } = await setup(t)
	const email = 'ann@example.com'
	const { id } = await post({ email })
	t.false((await post({ email, subscribed: false })).subscribed)
	t.false((await post({ email })).subscribed)
	t.false((await post({ email, subscribed: false })).subscribed)
	t.true((await call('PATCH', `/contacts/${id}`, { subscribed: true })).json().subscribed)
	t.true((await call('PATCH', `/contacts/${id}`, { subscribed: true })).json().subscribed)
	t.false((await post({ email: 'bob@example.com', subscribed: false })).subscribed)
	t.deepEqual(await events(), ['contact.unsubscribed', 'contact.subscribed'])
})

test('of twenty simultaneous requests for one address one creates it, and one changes its subscription', async (t) => {
	const { post, call, events } = await setup(t)
	const twenty = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 20 }, work))
	for (const email of ['ann@example.com', 'bob@example.com', 'carol@example.com']) {
		const created = await twenty(() => post({ email, data: { plan: 'x' } }))
		t.is(created.filter(({ _meta }) => _meta!.isNew).length, 1)
		t.is(new Set(created.map(({ id }) => id)).size, 1)
		const flipped = await twenty(() => post({ email, subscribed: false }))
		t.true(flipped.every(({ subscribed }) => !subscribed))
		const back = await twenty(() =>
			call('PATCH', `/contacts/${created[0]!.id}`, { subscribed: true }),
		)
		t.true(back.every((answer) => answer.json().subscribed))
	}
	t.deepEqual(await events(), Array(3).fill(['contact.unsubscribed', 'contact.subscribed']).flat())
})

test('requests at once that each set another field lose none of them', async (t) => {
	const { post, call } = await setup(t)
	const { id } = await post({ email: 'ann@example.com' })
	await Promise.all(
		Array.from({ length: 20 }, async (_, i) => {
			const data = { [`key${i}`]: i }
			if (i % 2) await post({ email: 'ann@example.com', data })
			else await call('PATCH', `/contacts/${id}`, { data })
		}),
	)
	const { data } = (await call('GET', `/contacts/${id}`)).json<Contact>()
	t.is(Object.keys(data).length, 20)
})

test('updatedAt moves only when something changes', async (t) => {
	const { post, call } = await setup(t)
	const email = 'ann@example.com'
	const { id, updatedAt } = await post({ email, data: { a: 1 } })
	t.is(
		(await post({ email, data: { a: 1, b: null, c: '' }, subscribed: true })).updatedAt,
		updatedAt,
	)
	const same = await call('PATCH', `/contacts/${id}`, { email: 'ANN@example.com', data: { a: 1 } })
	t.is(same.json().updatedAt, updatedAt)
	t.true((await post({ email, data: { a: 2 } })).updatedAt > updatedAt)
})

test('an address moves to a contact only while no other contact has it', async (t) => {
	const { post, call } = await setup(t)
	const ann = await post({ email: 'ann@example.com' })
	const bob = await post({ email: 'bob@example.com' })
	const conflict = await call('PATCH', `/contacts/${bob.id}`, {
		email: ' Ann@example.com',
		subscribed: false,
	})
	t.is(conflict.statusCode, 409)
	t.like(conflict.json().error, { code: 'CONFLICT', details: { contactId: ann.id } })
	t.true((await call('GET', `/contacts/${bob.id}`)).json().subscribed)
	const moved = await call('PATCH', `/contacts/${bob.id}`, { email: 'Bobby@example.com' })
	t.is(moved.json().email, 'bobby@example.com')
	t.is((await post({ email: 'bob@example.com' }))._meta?.isNew, true)
})

test("unknown ids and another project's are the same 404", async (t) => {
	const { orm, app, call, post } = await setup(t)
	const { id } = await post({ email: 'ann@example.com' })
	const other = await createProject(orm)
	for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
		const payload = method === 'PATCH' ? { subscribed: false } : undefined
		for (const unknown of [randomUUID(), 'x']) {
			const answer = await call(method, `/contacts/${unknown}`, payload)
			t.is(answer.statusCode, 404)
			t.like(answer.json().error, { code: 'CONTACT_NOT_FOUND', details: { resource: 'contact' } })
		}
		const headers = other.withSecretKey
		const foreign = await app.inject({
			method,
			url: `/contacts/${id}`,
			headers,
			...(payload ? { payload } : {}),
		})
		t.is(foreign.statusCode, 404)
	}
	const nothing = await app.inject({
		method: 'PATCH',
		url: `/contacts/${id}`,
		headers: other.withSecretKey,
		payload: {},
	})
	t.is(nothing.statusCode, 404)
	t.true((await call('GET', `/contacts/${id}`)).json().subscribed)
	const twin = { method: 'POST', url: '/contacts', headers: other.withSecretKey } as const
	t.is((await app.inject({ ...twin, payload: { email: 'ann@example.com' } })).statusCode, 201)
})

test('a look-up separates known and unknown addresses, in the caller’s spelling', async (t) => {
	const { orm, call, post } = await setup(t)
	const other = await createProject(orm)
	await post({ email: 'ann@example.com' })
	await orm.em
		.fork()
		.execute('insert into contacts (project_id, email, subscribed) values (?, ?, true)', [
			other.project.id,
			'eve@example.com',
		])
	const emails = [' Ann@Example.com', 'eve@example.com', 'bob@Example.com', 'no address', '']
	const answer = await call('POST', '/contacts/lookup', { emails })
	t.is(answer.statusCode, 200)
	t.deepEqual(answer.json(), { found: emails.slice(0, 1), notFound: emails.slice(1) })
	const many = (count: number) => Array.from({ length: count }, (_, i) => `p${i}@example.com`)
	t.is((await call('POST', '/contacts/lookup', { emails: many(500) })).json().notFound.length, 500)
	for (const emails of [undefined, [], 'ann@example.com', many(501), [5]])
		t.is((await call('POST', '/contacts/lookup', { emails })).statusCode, 422)
})
