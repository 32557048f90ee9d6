import test from 'ava'
import { createElement } from 'react'
import { claimKey, completeClaim } from '../db/idempotency-key.ts'
import { Tempost, TempostError } from '../client/index.ts'
import { startApp, testSettings, viaProxy } from './helpers/app.ts'
import { errorOf, type Fault, faults, refusal, setupClient } from './helpers/client.ts'

const mail = {
	to: 'ann@example.org',
	from: 'hello@example.com',
	subject: 'Hello',
	body: '<p>Hi</p>',
}

test('a wrapped answer is returned without its wrapping', async (t) => {
	const { tempost } = await setupClient(t)
	const sent = await tempost.send(mail)
	t.is(sent.emails[0]!.contact.email, 'ann@example.org')
	const email = await tempost.emails.get(sent.emails[0]!.email)
	t.is(email.subject, 'Hello')
	const campaign = await tempost.campaigns.create({ ...mail, name: 'News', audienceType: 'ALL' })
	t.is(campaign.status, 'DRAFT')
})

test('a refusal has its code, its fields, its request and a suggestion', async (t) => {
	const { tempost, tries } = await setupClient(t)
	const error = await errorOf(tempost.send({ ...mail, to: ['ann@example.org', 'nobody'] }))
	t.is(error.code, 'VALIDATION_ERROR')
	t.is(error.status, 422)
	t.like(error.fields[0], { field: 'to.1', code: 'invalid_string', received: 'nobody' })
	t.regex(error.requestId!, /^[\da-f-]{36}$/)
	t.truthy(error.suggestion)
	t.is(tries.length, 1)
	const simple = await errorOf(tempost.contacts.upsert({} as never))
	t.is(simple.code, 'BAD_REQUEST')
	t.regex(simple.requestId!, /^[\da-f-]{36}$/)
})

test('a change of the version that was read is refused once it has changed', async (t) => {
	const { tempost } = await setupClient(t)
	const { id, updatedAt } = await tempost.templates.create({ ...mail, name: 'First' })
	const unchangedSince = updatedAt
	t.is((await tempost.templates.update(id, { name: 'Second' }, { unchangedSince })).name, 'Second')
	const error = await errorOf(tempost.templates.update(id, { name: 'Third' }, { unchangedSince }))
	t.is(error.code, 'CONFLICT')
	t.is((await tempost.templates.get(id)).name, 'Second')
})

test('a change of the version that was read is not repeated if its answer was lost', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	const content = { audienceType: 'ALL', subject: 'News', body: 'News', from: mail.from } as const
	const { id, updatedAt } = await tempost.campaigns.create({ ...content, name: 'First' })
	plan(faults.lost)
	const before = tries.length
	const change = tempost.campaigns.update(id, { name: 'Second' }, { unchangedSince: updatedAt })
	t.not((await errorOf(change)).code, 'CONFLICT')
	t.is(tries.length, before + 1)
	t.is((await tempost.campaigns.get(id)).name, 'Second')
})

test('a mail whose answer was lost is sent once, and the first answer is returned', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	plan(faults.lost)
	const sent = await tempost.send(mail)
	t.is(tries.length, 2)
	t.is(tries[0]!.key, tries[1]!.key)
	const page = await tempost.emails.list()
	t.deepEqual(
		page.data.map(({ id }) => id),
		[sent.emails[0]!.email],
	)
	t.is(sent.emails[0]!.contact.email, 'ann@example.org')
})

test('a second call under the same key returns the answer of the first', async (t) => {
	const { tempost } = await setupClient(t)
	const options = { idempotencyKey: 'order 7' }
	t.deepEqual(await tempost.send(mail, options), await tempost.send(mail, options))
})

test('a key that another route has used is an error', async (t) => {
	const { tempost } = await setupClient(t)
	const options = { idempotencyKey: 'order 7' }
	const contact = await tempost.contacts.upsert({ email: 'ann@example.org' })
	await tempost.events.create({ name: 'ordered', contactId: contact.id }, options)
	const error = await errorOf(tempost.send(mail, options))
	t.is(error.code, 'IDEMPOTENCY_KEY_REUSED')
})

/** As if another process held the key for a request that is under way. */
async function holdKey(pool: Parameters<typeof claimKey>[0], projectId: string, key: string) {
	const request = 'POST /v1/send'
	const [claim] = await claimKey(pool, { projectId, key, request, hours: 1 })
	const complete = (statusCode: number) =>
		completeClaim(pool, { projectId, key, claimId: claim!.claimId, statusCode, response: null })
	return { complete }
}

test('a key in the headers of a call is the key of its request, in upper or lower case', async (t) => {
	const { tempost, pool, project, tries } = await setupClient(t)
	const { complete } = await holdKey(pool, project.id, 'order 1')
	await complete(500)
	const sent = await tempost.send(mail, { headers: { 'Idempotency-Key': 'order 1' } })
	t.deepEqual(await tempost.send(mail, { headers: { 'idempotency-key': 'order 1' } }), sent)
	const keys = ['order 1', 'order 1 (2)']
	t.deepEqual(
		tries.map(({ key }) => key),
		[...keys, ...keys],
	)
})

test('headers of a call replace those of the client, in upper or lower case', async (t) => {
	const { clientOf, tempost, secretKey } = await setupClient(t)
	const { id } = await tempost.templates.create({ ...mail, name: 'One' })
	const stranger = clientOf({ secretKey: 'sk_other' })
	t.is((await errorOf(stranger.templates.get(id))).status, 401)
	const headers = { Authorization: `Bearer ${secretKey}` }
	t.is((await stranger.templates.get(id, { headers })).name, 'One')
})

test('a request that failed under its key is repeated under a key that follows from it', async (t) => {
	const { tempost, pool, project, tries } = await setupClient(t)
	const { complete } = await holdKey(pool, project.id, 'order 7')
	await complete(500)
	const options = { idempotencyKey: 'order 7' }
	const sent = await tempost.send(mail, options)
	t.deepEqual(
		tries.map(({ key }) => key),
		['order 7', 'order 7 (2)'],
	)
	t.deepEqual(await tempost.send(mail, options), sent)
})

test('the key of a repeated request does not depend on the other faults before it', async (t) => {
	const { tempost, pool, project, plan, tries } = await setupClient(t)
	const { complete } = await holdKey(pool, project.id, 'order 7')
	await complete(503)
	const options = { idempotencyKey: 'order 7' }
	plan(refusal(503, 'DATABASE_ERROR', '0'))
	const sent = await tempost.send(mail, options)
	t.is(tries.at(-1)!.key, 'order 7 (2)')
	t.deepEqual(await tempost.send(mail, options), sent)
	t.is((await tempost.emails.list()).data.length, 1)
})

test('after each failure of its key, a request gets the next one', async (t) => {
	const { tempost, pool, project, tries } = await setupClient(t)
	for (const key of ['order 7', 'order 7 (2)'])
		await (await holdKey(pool, project.id, key)).complete(500)
	await tempost.send(mail, { idempotencyKey: 'order 7' })
	t.deepEqual(
		tries.map(({ key }) => key),
		['order 7', 'order 7 (2)', 'order 7 (3)'],
	)
})

test('a request that fails under each of its keys ends with the fault of the service', async (t) => {
	const { tempost, pool, project, plan, tries } = await setupClient(t)
	const failing: Fault = async (real) => {
		await (await holdKey(pool, project.id, tries.at(-1)!.key!)).complete(503)
		return refusal(503, 'DATABASE_ERROR', '0')(real)
	}
	for (let n = 1; n <= 4; n++) plan(failing, faults.none)
	const options = { idempotencyKey: 'order 7' }
	t.is((await errorOf(tempost.send(mail, options))).code, 'DATABASE_ERROR')
	t.is(tries.at(-1)!.key, 'order 7 (4)')
})

test('a request is sent in the end, although more of its keys have failed than it has retries', async (t) => {
	const { tempost, pool, project, tries } = await setupClient(t)
	const ends = ['', ' (2)', ' (3)', ' (4)', ' (5)']
	for (const end of ends) await (await holdKey(pool, project.id, `order 7${end}`)).complete(503)
	const options = { idempotencyKey: 'order 7', retries: 1 }
	const sent = await tempost.send(mail, options)
	t.is(tries.at(-1)!.key, 'order 7 (6)')
	t.deepEqual(await tempost.send(mail, options), sent)
	t.is((await tempost.emails.list()).data.length, 1)
})

test('requests whose long keys differ only at their end are repeated under different keys', async (t) => {
	const { tempost, pool, project, tries } = await setupClient(t)
	const sent: string[] = []
	for (const end of ['1', '2']) {
		const idempotencyKey = 'k'.repeat(254) + end
		await (await holdKey(pool, project.id, idempotencyKey)).complete(500)
		sent.push((await tempost.send(mail, { idempotencyKey })).emails[0]!.email)
	}
	t.not(sent[0], sent[1])
	t.regex(tries.at(-1)!.key!, /^[\da-f]{64} \(2\)$/)
})

test('a request under a key that is in use waits for the outcome', async (t) => {
	const { tempost, pool, project, plan, tries } = await setupClient(t)
	const { complete } = await holdKey(pool, project.id, 'order 7')
	plan(faults.none, async (real) => {
		await complete(500)
		return real()
	})
	await tempost.send(mail, { idempotencyKey: 'order 7' })
	t.is(tries.length, 3)
})

test('a request under way for longer than all retries take is still waited for', async (t) => {
	const { tempost, pool, project, plan, tries } = await setupClient(t)
	const { complete } = await holdKey(pool, project.id, 'order 7')
	plan(faults.none, faults.none, faults.none, faults.none, async (real) => {
		await complete(500)
		return real()
	})
	await tempost.send(mail, { idempotencyKey: 'order 7', retries: 1 })
	t.is(tries.length, 6)
})

test('reading is repeated after every fault of the network, and creating without a key after none', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	plan(faults.refused, faults.gateway, faults.lost)
	t.is((await tempost.contacts.list()).total, 0)
	t.is(tries.length, 4)
	plan(faults.lost)
	const error = await errorOf(
		tempost.templates.create({ ...mail, name: 'Hello', type: 'TRANSACTIONAL' }),
	)
	t.is(error.code, 'NETWORK_ERROR')
	t.is(tries.length, 5)
	t.is((await tempost.templates.list()).total, 1)
})

test('a refusal for too many requests is waited out on every route', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	plan(refusal(429, 'RATE_LIMIT_EXCEEDED', '1'))
	const began = Date.now()
	await tempost.contacts.upsert({ email: 'ann@example.org' })
	t.is(tries.length, 2)
	t.true(Date.now() - began >= 1000)
})

test('the health of a service without its database is an answer, not an error', async (t) => {
	const { orm, clientOf, plan, tries } = await setupClient(t)
	const { orm: distant, cut } = await viaProxy(t, orm)
	const { app } = await startApp(t, distant)
	const url = await app.listen({ port: 0, host: '127.0.0.1' })
	cut()
	const { service } = clientOf({ url })
	t.like(await service.health(), { status: 'unavailable', checks: { database: 'away' } })
	t.is(tries.length, 1)
	plan(async () => Response.json({ message: 'no healthy upstream' }, { status: 503 }))
	const error = await errorOf(service.health({ retries: 0 }))
	t.like(error, { code: 'UNEXPECTED_ANSWER', status: 503 })
})

test('an error of another service is an unexpected answer, whatever its JSON', async (t) => {
	const { tempost, plan } = await setupClient(t)
	for (const [status, body] of [
		[418, { error: null }],
		[418, { error: {} }],
		[418, { error: { code: 5, message: 'Teapot' } }],
		[418, null],
		[404, { status: 404, error: 'Not Found' }],
	] as const) {
		plan(async () => Response.json(body, { status }))
		const error = await errorOf(tempost.contacts.list())
		t.like(error, { code: 'UNEXPECTED_ANSWER', status }, JSON.stringify(body))
	}
})

test('an answer that should be a list and is not is an error, also while it is iterated', async (t) => {
	const { tempost, plan } = await setupClient(t)
	const { contacts, domains } = tempost
	for (const body of ['{}', 'null', '""', '']) {
		const strange = async () => new Response(body)
		plan(strange, strange, strange)
		const iterated = contacts.list()[Symbol.asyncIterator]().next()
		for (const list of [iterated, contacts.list(), domains.list('@me')])
			t.like(await errorOf(list), { code: 'UNEXPECTED_ANSWER', status: 200 }, body)
	}
})

test('a limit of billing is not repeated', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	plan(refusal(429, 'BILLING_LIMIT_EXCEEDED'))
	t.is((await errorOf(tempost.send(mail))).code, 'BILLING_LIMIT_EXCEEDED')
	t.is(tries.length, 1)
})

test('an overloaded service is asked again where a repetition does no harm', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	const overloaded = refusal(503, 'EXTERNAL_SERVICE_ERROR', '0')
	plan(overloaded, overloaded)
	await tempost.send(mail)
	t.is(tries.length, 3)
	plan(overloaded)
	const error = await errorOf(tempost.segments.create({ name: 'Empty', type: 'STATIC' }))
	t.is(error.status, 503)
	t.is(error.retryAfterSeconds, 0)
	t.is(tries.length, 4)
})

test('retries end after their number, and a long Retry-After is not waited for', async (t) => {
	const { tempost, clientOf, plan, tries } = await setupClient(t)
	plan(faults.refused, faults.refused)
	const error = await errorOf(clientOf({ retries: 1 }).contacts.list())
	t.is(error.code, 'NETWORK_ERROR')
	t.truthy(error.suggestion)
	t.is(tries.length, 2)
	plan(refusal(429, 'RATE_LIMIT_EXCEEDED', '61'))
	t.is((await errorOf(tempost.contacts.list())).retryAfterSeconds, 61)
	t.is(tries.length, 3)
})

test('a try that takes too long is a time-out', async (t) => {
	const { tempost, plan, tries } = await setupClient(t)
	plan(faults.never, faults.never)
	const error = await errorOf(tempost.contacts.list({}, { timeoutMs: 50, retries: 1 }))
	t.is(error.code, 'TIMEOUT')
	t.is(tries.length, 2)
})

test('a caller can abort a request, and a wait between two tries', async (t) => {
	const { tempost, plan } = await setupClient(t)
	const stop = new AbortController()
	plan(faults.never)
	const asked = tempost.send(mail, { signal: stop.signal })
	stop.abort(new Error('Enough'))
	await t.throwsAsync(asked, { message: 'Enough' })
	plan(refusal(429, 'RATE_LIMIT_EXCEEDED', '30'))
	const waiting = tempost.send(mail, { signal: AbortSignal.timeout(200) })
	await t.throwsAsync(waiting, { name: 'TimeoutError' })
})

test('lists by cursor and lists by page are iterated to their end', async (t) => {
	const { tempost, tries } = await setupClient(t)
	for (const name of ['a', 'b', 'c', 'd', 'e']) {
		await tempost.contacts.upsert({ email: `${name}@example.org` })
		await tempost.templates.create({ ...mail, name, type: 'TRANSACTIONAL' })
	}
	const before = tries.length
	const addresses: string[] = []
	for await (const { email } of tempost.contacts.list({ limit: 2 })) addresses.push(email)
	t.is(new Set(addresses).size, 5)
	const names: string[] = []
	for await (const { name } of tempost.templates.list({ pageSize: 2 })) names.push(name)
	t.is(new Set(names).size, 5)
	t.is(tries.length - before, 6)
	t.is((await tempost.contacts.list({ limit: 2 })).data.length, 2)
})

test('an id that is empty is refused, because it would lead to another route', async (t) => {
	const { tempost, tries } = await setupClient(t)
	const error = t.throws(() => void tempost.contacts.delete(''), { instanceOf: TempostError })
	t.is(error?.message, 'contacts.delete needs id')
	t.throws(() => void tempost.emails.get(undefined as never), { instanceOf: TempostError })
	t.is(tries.length, 0)
})

test('ids are encoded in the path, and lists and booleans in the query', async (t) => {
	const { tempost } = await setupClient(t)
	await tempost.suppressions.create({ email: 'a+b@example.org' })
	await tempost.suppressions.delete('a+b@example.org')
	t.is((await tempost.suppressions.list()).total, 0)
	await tempost.contacts.upsert({ email: 'ann@example.org', subscribed: false })
	t.is((await tempost.contacts.list({ subscribed: true })).total, 0)
	const contact = await tempost.contacts.upsert({ email: 'bob@example.org' })
	await tempost.events.create({ name: 'ordered', contactId: contact.id })
	const input = { types: ['event.triggered', 'email.sent'] }
	t.is((await tempost.activity.list(input)).data.length, 1)
})

test('an idempotency key that the service would refuse is refused at once', async (t) => {
	const { tempost, tries } = await setupClient(t)
	for (const key of ['заказ 7', 'café', 'order\n7', '', 'k'.repeat(256)])
		for (const options of [{ idempotencyKey: key }, { headers: { 'Idempotency-Key': key } }]) {
			const error = await errorOf(tempost.send(mail, options))
			t.like(error, { code: 'BAD_REQUEST', message: 'The idempotency key is not valid' }, key)
			t.regex(error.suggestion!, /printable ASCII/)
		}
	t.is(tries.length, 0)
})

test('a key or a header with characters that no header can have is refused at once', async (t) => {
	const { tempost, clientOf, tries } = await setupClient(t)
	const wrongKey = await errorOf(clientOf({ secretKey: 'sk_…' }).emails.list())
	t.like(wrongKey, { code: 'BAD_REQUEST', message: 'The secret key is not valid' })
	t.regex(wrongKey.suggestion!, /HTTP header cannot have/)
	const event = { email: 'ann@example.org', event: 'ordered' }
	const wrongPublicKey = await errorOf(clientOf({ publicKey: 'pk_…' }).track(event))
	t.like(wrongPublicKey, { code: 'BAD_REQUEST', message: 'The public key is not valid' })
	for (const headers of [{ 'x-shop': 'Świt' }, { 'x shop': 'Dawn' }]) {
		const [name] = Object.keys(headers)
		const error = await errorOf(tempost.emails.list({}, { headers }))
		t.like(error, { code: 'BAD_REQUEST', message: `The header ${name} is not valid` })
	}
	t.is(tries.length, 0)
})

test('an address without http:// or https:// is refused at once', async (t) => {
	const { clientOf, tries } = await setupClient(t)
	for (const url of [
		'localhost:4000',
		'127.0.0.1:4000',
		'example.com',
		'ftp://example.com',
		'http://',
	]) {
		const error = await errorOf(clientOf({ url }).contacts.list())
		t.is(error.code, 'BAD_REQUEST', url)
		t.regex(error.suggestion ?? '', /https:\/\//, url)
	}
	t.is(tries.length, 0)
})

test('a missing key is reported with the way to give it', async (t) => {
	const { url } = await setupClient(t)
	const error = await errorOf(
		new Tempost({ url, secretKey: 'sk' }).track({ email: 'a@example.org', event: 'e' }),
	)
	t.is(error.code, 'MISSING_CREDENTIAL')
	t.regex(error.suggestion!, /TEMPOST_PUBLIC_KEY/)
})

test('a missing key is reported at once, also by a request that would be repeated', async (t) => {
	const { url } = await setupClient(t)
	const beganAt = performance.now()
	const error = await errorOf(new Tempost({ url, retries: 6 }).emails.list())
	t.is(error.code, 'MISSING_CREDENTIAL')
	const ms = performance.now() - beganAt
	t.true(ms < 5000, `${ms} ms, although no wait can help`)
})

test('a person who has logged in has a session until the log-out', async (t) => {
	const { url } = await setupClient(t)
	const person = new Tempost({ url, headers: { origin: testSettings().publicUrl } })
	await person.auth.signUp({ email: 'ann@example.org', password: 'a long enough password' })
	const project = await person.projects.create({ name: 'Shop' })
	t.deepEqual(
		(await person.projects.list()).map(({ id }) => id),
		[project.id],
	)
	t.is((await person.contacts.list({}, { projectId: project.id })).total, 0)
	await person.auth.logOut()
	t.is((await errorOf(person.projects.list())).code, 'MISSING_CREDENTIAL')
})

test('a React Email element becomes the body of a mail', async (t) => {
	const { tempost, clientOf } = await setupClient(t)
	const { body: _, ...others } = mail
	const react = createElement('p', null, 'Hello ', createElement('b', null, 'Ann'))
	const template = await tempost.templates.create({
		...others,
		react,
		name: 'Hi',
		type: 'TRANSACTIONAL',
	})
	t.regex(template.body, /<p>Hello (<!-- -->)?<b>Ann<\/b><\/p>/)
	const own = clientOf({ render: async () => '<p>Rendered elsewhere</p>' })
	const other = await own.templates.create({ ...others, react, name: 'Hi', type: 'TRANSACTIONAL' })
	t.is(other.body, '<p>Rendered elsewhere</p>')
})
