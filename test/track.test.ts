import type { ExecutionContext } from 'ava'
import test from 'ava'
import { Contact } from '../db/contacts/contact.ts'
import { Event } from '../db/events/event.ts'
import { createProject, setup } from './helpers/app.ts'
import { isEnvelope } from './helpers/envelope.ts'

async function setupTrack(t: ExecutionContext) {
	const all = await setup(t)
	const { app, orm } = all
	const post = (payload: object | string, headers: object = {}) =>
		app.inject({
			method: 'POST',
			url: '/v1/track',
			headers: { ...all.withPublicKey, 'content-type': 'application/json', ...headers },
			payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
		})
	return {
		...all,
		post,
		/** Tracks an event that must succeed. */
		track: async (changes: object = {}) => {
			const response = await post({ email: 'ann@example.org', event: 'order', ...changes })
			t.is(response.statusCode, 200, response.body)
			return response.json().data as { contact: string; event: string; timestamp: string }
		},
		/** Tracks an event that must be refused, and returns the errors as "field: code". */
		refused: async (changes: object) => {
			const response = await post({ email: 'ann@example.org', event: 'order', ...changes })
			const { errors } = isEnvelope(t, response, 422, 'VALIDATION_ERROR')
			return errors.map(({ field, code }: Record<string, string>) => `${field}: ${code}`)
		},
		contact: () => orm.em.fork().findOneOrFail(Contact, { email: 'ann@example.org' }),
		events: () => orm.em.fork().find(Event, {}, { orderBy: { createdAt: 'asc', id: 'asc' } }),
		names: async () =>
			(await orm.em.fork().find(Event, {}, { orderBy: { id: 'asc' } })).map(({ name }) => name),
	}
}

test('a tracked event creates a subscribed contact and answers with both ids', async (t) => {
	const { track, contact, events, project } = await setupTrack(t)
	const answer = await track({ email: ' Ann@Example.ORG ', data: { plan: 'pro' } })
	const [event, ...more] = await events()
	const ann = await contact()
	t.deepEqual(more, [])
	t.deepEqual(answer, {
		contact: ann.id,
		event: event!.id,
		timestamp: event!.createdAt.toISOString(),
	})
	t.like(ann, { projectId: project.id, subscribed: true, data: { plan: 'pro' } })
	t.like(event, { name: 'order', contactId: ann.id, emailId: null, data: { plan: 'pro' } })
})

test('tracking the same event again makes another event of the same contact', async (t) => {
	const { track, events } = await setupTrack(t)
	const first = await track()
	const second = await track()
	t.is(first.contact, second.contact)
	t.not(first.event, second.event)
	t.is((await events()).length, 2)
})

test('the contact keeps persistent values, and the event has all values', async (t) => {
	const { track, contact, events } = await setupTrack(t)
	await track({ data: { plan: 'free', old: 1, kept: 'yes' } })
	await track({
		data: {
			plan: { value: 'pro', persistent: true },
			coupon: { value: 'X1', persistent: false },
			address: { city: 'Bonn', value: 7 },
			tags: ['a', 'b'],
			old: null,
			kept: '',
			id: 'order-7',
			email: 'other@example.org',
		},
	})
	const address = { city: 'Bonn', value: 7 }
	t.deepEqual((await contact()).data, { plan: 'pro', kept: 'yes', address, tags: ['a', 'b'] })
	t.deepEqual((await events())[1]!.data, {
		plan: 'pro',
		coupon: 'X1',
		address,
		tags: ['a', 'b'],
		old: null,
		kept: '',
		id: 'order-7',
		email: 'other@example.org',
	})
})

test('a contact keeps its subscription unless the request changes it, and each flip is emitted once', async (t) => {
	const { track, contact, names } = await setupTrack(t)
	await track({ subscribed: false })
	t.false((await contact()).subscribed)
	await track()
	t.false((await contact()).subscribed)
	t.deepEqual(await names(), ['order', 'order'])
	await track({ subscribed: true })
	await track({ subscribed: true })
	t.true((await contact()).subscribed)
	t.is((await names()).filter((name) => name === 'contact.subscribed').length, 1)
	await Promise.all(Array.from({ length: 8 }, () => track({ subscribed: false })))
	t.is((await names()).filter((name) => name === 'contact.unsubscribed').length, 1)
})

test('simultaneous requests for a new address create one contact and lose no event', async (t) => {
	const { track, events } = await setupTrack(t)
	const answers = await Promise.all(
		Array.from({ length: 20 }, (_, index) => track({ data: { [`key${index}`]: index } })),
	)
	t.is(new Set(answers.map(({ contact }) => contact)).size, 1)
	t.is(new Set((await events()).map(({ id }) => id)).size, 20)
})

test('an event that changes nothing leaves the contact as it was', async (t) => {
	const { track, contact } = await setupTrack(t)
	await track({ data: { plan: 'pro' } })
	const before = await contact()
	await track({ data: { plan: 'pro' }, subscribed: true })
	t.deepEqual(await contact(), before)
})

test('names that the service itself emits are refused', async (t) => {
	const { refused, track, events } = await setupTrack(t)
	const reserved = [
		'email.open',
		'email.anything',
		'EMAIL.Sent',
		'email.a\u2028b',
		' contact.subscribed ',
		'contact.unsubscribed',
		'segment.big-spenders.entry',
		'segment.größen_1.exit',
	]
	for (const event of reserved) t.deepEqual(await refused({ event }), ['event: reserved_event'])
	t.deepEqual(await events(), [])
	for (const event of ['email', 'emails.open', 'contact.created', 'segment.entry', 'x.email.open'])
		await track({ event })
})

test('an event name is trimmed, at most 255 characters and not empty', async (t) => {
	const { refused, track, names } = await setupTrack(t)
	t.deepEqual(await refused({ event: '' }), ['event: too_small'])
	t.deepEqual(await refused({ event: '  ' }), ['event: too_small'])
	t.deepEqual(await refused({ event: 'x'.repeat(256) }), ['event: too_big'])
	t.deepEqual(await refused({ event: 'a\nb' }), ['event: invalid_string'])
	t.deepEqual(await refused({ event: 7 }), ['event: invalid_type'])
	await track({ event: '  signed up ' })
	await track({ event: 'é'.repeat(255) })
	t.deepEqual(await names(), ['signed up', 'é'.repeat(255)])
})

test('all faults are reported at once, and nothing is written', async (t) => {
	const { refused, events } = await setupTrack(t)
	t.deepEqual(
		await refused({
			email: 'nobody',
			event: 'email.open',
			subscribed: 'yes',
			data: { locale: 5, ['k'.repeat(101)]: 1 },
		}),
		[
			'email: invalid_string',
			'subscribed: invalid_type',
			'event: reserved_event',
			'data.locale: invalid_type',
			`data.${'k'.repeat(101)}: too_big`,
		],
	)
	t.deepEqual(await refused({ email: undefined, event: undefined }), [
		'email: required',
		'event: required',
	])
	t.deepEqual(await refused({ data: [1] }), ['data: invalid_type'])
	t.deepEqual(await events(), [])
})

test('64 KB are the limit of one event, and of a contact’s data as a whole', async (t) => {
	const { refused, track, events } = await setupTrack(t)
	const big = 'x'.repeat(40_000)
	t.deepEqual(await refused({ data: { once: { value: 'x'.repeat(66_000), persistent: false } } }), [
		'data: too_big',
	])
	await track({ data: { first: big } })
	t.deepEqual(await refused({ data: { second: big } }), ['data: too_big'])
	t.is((await events()).length, 1)
	await track({ data: { first: null, second: big } })
	await track()
})

test('an idempotency key tracks once, and its answer is kept', async (t) => {
	const { post, events } = await setupTrack(t)
	const body = { email: 'ann@example.org', event: 'order' }
	const answer = await post(body, { 'idempotency-key': 'one' })
	t.is(answer.statusCode, 200)
	const again = await post(body, { 'idempotency-key': 'one' })
	const { details } = isEnvelope(t, again, 409, 'IDEMPOTENCY_KEY_REUSED')
	t.is(details.originalRequest, 'POST /v1/track')
	t.is(details.originalStatusCode, 200)
	t.deepEqual(details.response, answer.json())
	t.is((await events()).length, 1)
})

test('a refused event leaves its idempotency key free', async (t) => {
	const { post, track, events } = await setupTrack(t)
	await track({ data: { first: 'x'.repeat(40_000) } })
	const body = { email: 'ann@example.org', event: 'order' }
	const key = { 'idempotency-key': 'one' }
	const tooBig = { ...body, data: { second: 'x'.repeat(40_000) } }
	t.is((await post({ ...body, event: 'email.x' }, key)).statusCode, 422)
	t.is((await post(tooBig, key)).statusCode, 422)
	t.is((await post(body, key)).statusCode, 200)
	t.is((await events()).length, 2)
})

test('a claim that was taken over writes nothing', async (t) => {
	const { app, post, pool, events } = await setupTrack(t)
	app.addHook('preHandler', async () => {
		await pool.query('update idempotency_keys set claim_id = uuidv7()')
	})
	const late = await post(
		{ email: 'ann@example.org', event: 'order' },
		{ 'idempotency-key': 'late' },
	)
	isEnvelope(t, late, 409, 'IDEMPOTENCY_KEY_REUSED')
	t.deepEqual(await events(), [])
	t.is((await pool.query('select from contacts')).rowCount, 0)
})

test('the public key alone may track, from any origin', async (t) => {
	const { app, post, withSecretKey } = await setupTrack(t)
	const body = { email: 'ann@example.org', event: 'order' }
	isEnvelope(t, await post(body, withSecretKey), 401, 'INVALID_API_KEY')
	const answer = await post(body, { origin: 'https://shop.example' })
	t.is(answer.headers['access-control-allow-origin'], '*')
	const preflight = await app.inject({
		method: 'OPTIONS',
		url: '/v1/track',
		headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
	})
	t.is(preflight.statusCode, 204)
})

test('the same address in another project is another contact', async (t) => {
	const { orm, track, post } = await setupTrack(t)
	const other = await createProject(orm)
	const { contact } = await track({ data: { plan: 'pro' } })
	const answer = await post({ email: 'ann@example.org', event: 'order' }, other.withPublicKey)
	t.not(answer.json().data.contact, contact)
	const theirs = await orm.em.fork().findOneOrFail(Contact, { projectId: other.project.id })
	t.deepEqual(theirs.data, {})
})

test('null for an optional member counts as absent; for a field of data it deletes', async (t) => {
	const { track, contact } = await setupTrack(t)
	await track({ subscribed: false, data: { plan: 'pro', city: 'Ulm' } })
	await track({ subscribed: null, data: null })
	t.like(await contact(), { subscribed: false, data: { plan: 'pro', city: 'Ulm' } })
	await track({ data: { plan: null } })
	t.deepEqual((await contact()).data, { city: 'Ulm' })
})

test('every refusal of an event suggests what to do', async (t) => {
	const { post } = await setupTrack(t)
	const whole = { email: 'ann@example.org', event: 'order' }
	for (const changes of [{ email: 'x' }, { event: null }, { event: 'email.x' }, { data: [] }]) {
		const { error } = (await post({ ...whole, ...changes })).json()
		t.is(error.statusCode, 422)
		t.regex(error.suggestion, /^[A-Z].*\.$/, JSON.stringify(changes))
	}
})
