import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { hold } from './helpers/locks.ts'
import { beginNextMinute } from './helpers/minutes.ts'
import { nothing, setupSend } from './helpers/send.ts'

const complete = {
	to: 'anna@example.org',
	from: 'app@example.com',
	subject: 'Hello',
	body: '<p>Hello</p>',
}

interface Result {
	emails: { contact: { id: string; email: string }; email: string }[]
}

async function setupBatch(t: ExecutionContext, options: Parameters<typeof setupSend>[1] = {}) {
	const all = await setupSend(t, options)
	const batch = (changes: unknown, headers = {}) =>
		all.app.inject({
			method: 'POST',
			url: '/v1/send/batch',
			headers: { 'content-type': 'application/json', ...all.withSecretKey, ...headers },
			payload: JSON.stringify(
				Array.isArray(changes)
					? changes.map((one: object | null) => one && { ...complete, ...one })
					: changes,
			),
		})
	return {
		...all,
		batch,
		/** Sends a batch that must be accepted, and returns its results. */
		accepted: async (changes: object[]) => {
			const response = await batch(changes)
			t.is(response.statusCode, 200, response.body)
			return response.json<{ data: { results: Result[] } }>().data.results
		},
		/** Sends a batch that must be refused, and returns the errors as "field: code". */
		faults: async (changes: unknown, status = 422) => {
			const response = await batch(changes)
			t.is(response.statusCode, status, response.body)
			const { errors = [] } = response.json<{
				error: { errors?: { field: string; code: string }[] }
			}>().error
			return errors.map(({ field, code }) => `${field}: ${code}`)
		},
	}
}

test('a batch is answered with one result per message in their order, and each message has its own place in the queue', async (t) => {
	const { accepted, mails, written, pool, wakes } = await setupBatch(t)
	const results = await accepted([
		{ to: ['zoe@a.org', 'bo@a.org'], subject: 'First to {{ email }}' },
		{ to: { email: 'Anna@A.org', name: 'Anna' }, subject: 'Second to {{ name }}' },
		{ to: 'zoe@a.org', subject: 'Third' },
	])
	t.deepEqual(
		results.map(({ emails }) => emails.map(({ contact }) => contact.email)),
		[['zoe@a.org', 'bo@a.org'], ['anna@a.org'], ['zoe@a.org']],
	)
	t.is(results[0]!.emails[0]!.contact.id, results[2]!.emails[0]!.contact.id)
	const rows = await mails()
	t.deepEqual(
		rows.map(({ id }) => id),
		results.flatMap(({ emails }) => emails.map(({ email }) => email)),
	)
	t.deepEqual(
		rows.map(({ subject }) => subject),
		['First to zoe@a.org', 'First to bo@a.org', 'Second to Anna', 'Third'],
	)
	t.deepEqual(await written(), { ...nothing, contacts: 3, emails: 4, queued: 3 })
	const queued = await pool.query('select email_ids from queued_sends order by id')
	t.deepEqual(
		queued.rows.map(({ email_ids }) => email_ids),
		results.map(({ emails }) => emails.map(({ email }) => email)),
	)
	t.is(wakes.count, 1)
})

test('a batch is checked as a whole: each error names its message, and nothing is written', async (t) => {
	const { faults, written } = await setupBatch(t)
	t.deepEqual(await faults([{}, { to: 'nobody' }, { subject: '{{ x', to: [] }]), [
		'1.to: invalid_string',
		'2.to: too_small',
		'2.subject: template_syntax',
	])
	t.deepEqual(await faults([{}, null, { headers: { From: 'x' } }]), [
		'1: invalid_type',
		'2.headers.From: custom',
	])
	t.deepEqual(await faults([]), [': too_small'])
	t.deepEqual(await faults(complete), [': invalid_type'])
	t.deepEqual(await faults(Array.from({ length: 101 }, () => ({}))), [': too_big'])
	const many = Array.from({ length: 600 }, (_, i) => `a${i}@a.org`)
	t.deepEqual(await faults([{ to: many }, { to: many }]), [': too_big'])
	t.deepEqual(await written(), nothing)
})

test('a refusal by what the database has names the message, too', async (t) => {
	const { batch, faults, createTemplate, written } = await setupBatch(t)
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	t.deepEqual(await faults([{}, { template, to: ['a@a.org', 'b@a.org'] }], 400), [
		'1.to.0: custom',
		'1.to.1: custom',
	])
	const stranger = await batch([{}, {}, { from: 'x@unknown.example' }])
	t.is(stranger.statusCode, 403)
	t.like(stranger.json().error.details, { domain: 'unknown.example', message: 2 })
	const missing = await batch([{}, { template: crypto.randomUUID() }])
	t.is(missing.statusCode, 404)
	t.like(missing.json().error.details, { resource: 'template', message: 1 })
	t.deepEqual(await written(), nothing)
})

test('messages of a batch may use different templates and domains', async (t) => {
	const { accepted, mails, createTemplate, verify } = await setupBatch(t)
	await verify('other.example')
	const { id: template } = await createTemplate()
	const changes = { subject: undefined, body: undefined, from: undefined, template }
	await accepted([{ from: 'x@other.example' }, changes, { subject: 'Own', template }, {}])
	t.deepEqual(
		(await mails()).map(({ from, subject, templateId }) => [from, subject, templateId]),
		[
			['x@other.example', 'Hello', null],
			['team@example.com', 'Welcome, you', template],
			['app@example.com', 'Own', template],
			['app@example.com', 'Hello', null],
		],
	)
})

test('messages to the same contact change it one after the other', async (t) => {
	const { accepted, mails, contact, createContact, events } = await setupBatch(t)
	await createContact('old@a.org', { data: { plan: 'free', city: 'Rome' } })
	const body = '{{ plan }} {{ city }} {{ name }}'
	for (const to of ['old@a.org', 'new@a.org'])
		await accepted([
			{ to, body, data: { plan: 'pro', city: null } },
			{ to: { email: to, name: 'Ann' }, body, subscribed: true },
			{ to, body, data: { plan: { value: 'once', persistent: false }, city: 'Oslo' } },
			{ to, body, data: { name: null }, subscribed: false },
			{ to: 'other@a.org', body, data: { plan: 'other' } },
		])
	const bodies = ['pro  ', 'pro  Ann', 'once Oslo Ann', 'pro Oslo ', 'other  ']
	t.deepEqual(
		(await mails()).map(({ body }) => body),
		[...bodies, ...bodies],
	)
	for (const email of ['old@a.org', 'new@a.org']) {
		const { data, subscribed } = await contact(email)
		t.deepEqual([data, subscribed], [{ plan: 'pro', city: 'Oslo' }, false])
	}
	t.deepEqual((await contact('other@a.org')).data, { plan: 'other' })
	t.deepEqual(await events(), [])
})

test('a batch has one idempotency key, whose record has its answer without addresses', async (t) => {
	const { batch, written, pool } = await setupBatch(t)
	const key = { 'idempotency-key': 'batch-1' }
	const first = await batch([{}, { to: 'b@a.org' }], key)
	const second = await batch([{}, { to: 'b@a.org' }], key)
	t.deepEqual([first.statusCode, second.statusCode], [200, 409])
	t.like(second.json().error.details, { originalRequest: 'POST /v1/send/batch' })
	t.deepEqual(second.json().error.details.response, first.json())
	t.deepEqual(await written(), { ...nothing, contacts: 2, emails: 2, queued: 2 })
	const { rows } = await pool.query('select response::text from idempotency_keys')
	t.false(rows[0].response.includes('@'))
})

test('a batch whose contact is deleted while it is written is written again, as a whole', async (t) => {
	const { batch, createContact, mails, contact, pool } = await setupBatch(t)
	await createContact('anna@example.org')
	const held = await hold(pool, 'queued_sends')
	const response = batch([{ to: 'b@a.org' }, {}])
	await held.waiting(1)
	await held.query(`delete from contacts where email = 'anna@example.org'`)
	await held.letGo()
	t.is((await response).statusCode, 200)
	t.deepEqual(
		(await mails()).map(({ contactId }) => contactId),
		[(await contact('b@a.org')).id, (await contact('anna@example.org')).id],
	)
})

test('each message counts as a request for the rate limit, and a refused batch uses none of it', async (t) => {
	const { batch, send, pool, project } = await setupBatch(t, {
		settings: { rateLimitPerMinute: 10 },
	})
	await beginNextMinute(pool, project.id)
	t.is((await batch(Array.from({ length: 6 }, () => ({})))).statusCode, 200)
	const refused = await batch(Array.from({ length: 6 }, () => ({})))
	t.is(refused.statusCode, 429)
	t.is(refused.json().error.code, 'RATE_LIMIT_EXCEEDED')
	const leased = 'select leased from request_budgets'
	while ((await pool.query(leased)).rows[0].leased > 7) await sleep(20)
	const statuses = []
	for (let i = 0; i < 4; i++) statuses.push((await send()).statusCode)
	t.deepEqual(statuses, [200, 200, 200, 429])
})

test('a large batch is processed on a thread with the same result', async (t) => {
	const { accepted, mails } = await setupBatch(t)
	const results = await accepted([
		{ body: `<p>${'x'.repeat(2 ** 20)}</p>` },
		{ to: 'b@a.org', body: '{{ email }}' },
	])
	t.deepEqual(
		results.map(({ emails }) => emails[0]!.contact.email),
		['anna@example.org', 'b@a.org'],
	)
	t.is((await mails())[1]!.body, 'b@a.org')
})

test('each message of a batch has its own attachments', async (t) => {
	const { accepted, mails, pool } = await setupBatch(t)
	const file = (filename: string) => ({ filename, contentType: 'text/plain', content: 'YQ==' })
	await accepted([{ attachments: [file('a.txt')] }, {}, { attachments: [file('b.txt')] }])
	const { rows } = await pool.query(
		'select filename, request_id from attachments order by filename',
	)
	const [first, second, third] = await mails()
	t.deepEqual(
		rows.map(({ filename, request_id }) => [filename, request_id]),
		[
			['a.txt', first!.requestId],
			['b.txt', third!.requestId],
		],
	)
	t.is(second!.attachments, null)
})
