import test from 'ava'
import { Project } from '../db/projects/project.ts'
import { nothing, setupSend } from './helpers/send.ts'

const body = '{{ plan }}|{{ data.plan }}|{{ count }}|{{ code }}|{{ data.code }}'

test('primitives are kept on the contact and at hand in the template', async (t) => {
	const { sent, contact } = await setupSend(t)
	const data = { plan: 'pro', count: 0, active: false }
	t.is((await sent({ data, body })).body, 'pro|pro|0||')
	t.deepEqual((await contact('anna@example.org')).data, data)
	t.is((await sent({ body })).body, 'pro|pro|0||')
	t.is((await sent({ data: { count: 1 }, body })).body, 'pro|pro|1||')
	t.deepEqual((await contact('anna@example.org')).data, { ...data, count: 1 })
})

test('null deletes a field, an empty string changes nothing', async (t) => {
	const { sent, contact, createContact } = await setupSend(t)
	await createContact('anna@example.org', { data: { plan: 'pro', count: 3, city: 'Ulm' } })
	const mail = await sent({ data: { plan: '', count: null, unknown: null, empty: '' }, body })
	t.is(mail.body, 'pro|pro|||')
	t.deepEqual((await contact('anna@example.org')).data, { plan: 'pro', city: 'Ulm' })
	await sent({ to: 'new@example.org', data: { plan: null, count: '' } })
	t.deepEqual((await contact('new@example.org')).data, {})
})

test('non-persistent values serve this mail only, persistent values are stored bare', async (t) => {
	const { sent, contact } = await setupSend(t)
	const data = {
		code: { value: 123, persistent: false },
		plan: { value: 'pro', persistent: true },
		count: { value: null, persistent: true },
		address: { city: 'Ulm' },
		list: [1, { a: null }],
	}
	t.is((await sent({ data, body })).body, 'pro|pro||123|123')
	const kept = { plan: 'pro', address: { city: 'Ulm' }, list: [1, { a: null }] }
	t.deepEqual((await contact('anna@example.org')).data, kept)
	const once = await sent({ data: { plan: { value: 'trial', persistent: false } }, body })
	t.is(once.body, 'trial|trial|||')
	t.deepEqual((await contact('anna@example.org')).data, kept)
	t.is((await sent({ body })).body, 'pro|pro|||')
})

test('reserved keys are filtered out, with any value', async (t) => {
	const { sent, contact } = await setupSend(t)
	const data = {
		id: 'x',
		service_id: 5,
		service_email: null,
		email: { value: 'x@y.z', persistent: false },
		unsubscribeUrl: 'https://evil.example',
		subscribeUrl: 'x',
		manageUrl: 'x'.repeat(100_000),
		plan: 'pro',
	}
	const mail = await sent({ data, body: '{{ email }} {{ id }} {{ unsubscribeUrl }}' })
	const { id, data: kept } = await contact('anna@example.org')
	t.deepEqual(kept, { plan: 'pro' })
	t.is(mail.body, `anna@example.org ${id} http://localhost:3000/unsubscribe/${id}?e=${mail.id}`)
})

test("each mail's links name its contact and itself", async (t) => {
	const { send, mails } = await setupSend(t, {
		settings: { publicUrl: 'https://mail.example.com' },
	})
	const links = '{{ unsubscribeUrl }} {{ subscribeUrl }} {{ manageUrl }}'
	await send({ to: ['a@a.org', 'b@a.org', 'a@a.org'], body: links })
	for (const { contactId, id, body } of await mails())
		t.is(
			body,
			['unsubscribe', 'subscribe', 'manage']
				.map((page) => `https://mail.example.com/${page}/${contactId}?e=${id}`)
				.join(' '),
		)
})

test("the mail's language is the contact's, else the project's", async (t) => {
	const { sent, createContact, orm, project } = await setupSend(t)
	await orm.em.fork().nativeUpdate(Project, { id: project.id }, { language: 'fr' })
	await createContact('de@a.org', { data: { locale: 'de_AT' } })
	await createContact('odd@a.org', { data: { locale: 'deutsch, bitte' } })
	t.is((await sent({ to: 'de@a.org' })).language, 'de_AT')
	t.is((await sent({ to: 'odd@a.org' })).language, 'fr')
	t.is((await sent({ to: 'new@a.org' })).language, 'fr')
	const once = await sent({ to: 'de@a.org', data: { locale: { value: 'nl', persistent: false } } })
	t.is(once.language, 'nl')
	t.is((await sent({ to: 'de@a.org', data: { locale: 'es' } })).language, 'es')
	t.is((await sent({ to: 'de@a.org', data: { locale: null } })).language, 'fr')
})

test('a contact that does not change is not touched', async (t) => {
	const { sent, contact, createContact, events } = await setupSend(t)
	const updatedAt = new Date('2026-01-01T00:00:00Z')
	await createContact('anna@example.org', { subscribed: true, data: { plan: 'pro' }, updatedAt })
	await sent()
	await sent({
		subscribed: true,
		data: { plan: 'pro', gone: null, empty: '', once: { value: 1, persistent: false } },
	})
	await sent({ to: { email: 'anna@example.org' } })
	t.deepEqual((await contact('anna@example.org')).updatedAt, updatedAt)
	await sent({ data: { plan: 'max' } })
	t.true((await contact('anna@example.org')).updatedAt > updatedAt)
	t.deepEqual(await events(), [])
})

test('the data of a contact is at most 64 KB, all requests together', async (t) => {
	const { sent, send, createContact, contact, written } = await setupSend(t)
	const kilobytes = (count: number) => 'x'.repeat(count * 1024)
	await sent({ data: { a: kilobytes(40) } })
	const before = await written()
	const response = await send({ to: ['b@a.org', 'anna@example.org'], data: { b: kilobytes(30) } })
	t.is(response.statusCode, 422)
	const [error] = response.json().error.errors
	t.is(error.field, 'data')
	t.regex(error.message, /^makes the data of to\.1 \(anna@example\.org\) larger than 64 KB/)
	t.deepEqual(await written(), before)
	await sent({ data: { a: kilobytes(10), b: kilobytes(30) } })
	await sent({ data: { once: { value: kilobytes(100), persistent: false } } })
	await createContact('old@a.org', { data: { a: kilobytes(70), b: kilobytes(1) } })
	await sent({ to: 'old@a.org', data: { b: null } })
	t.deepEqual(Object.keys((await contact('old@a.org')).data), ['a'])
	await createContact('full@a.org', { data: { a: 'x'.repeat(65_500) } })
	const named = await send({ to: { email: 'full@a.org', name: 'x'.repeat(100) } })
	t.is(named.statusCode, 422)
})

test('a new contact is unsubscribed unless the request subscribes it, and that emits no event', async (t) => {
	const { sent, contact, events } = await setupSend(t)
	await sent({ to: 'a@a.org' })
	await sent({ to: 'b@a.org', subscribed: true })
	await sent({ to: 'c@a.org', subscribed: false })
	t.false((await contact('a@a.org')).subscribed)
	t.true((await contact('b@a.org')).subscribed)
	t.false((await contact('c@a.org')).subscribed)
	t.deepEqual(await events(), [])
})

test('a change of the subscription is one event, even if an address is listed twice', async (t) => {
	const { sent, contact, events } = await setupSend(t)
	await sent()
	await sent({ subscribed: true, to: ['anna@example.org', 'anna@example.org'] })
	t.true((await contact('anna@example.org')).subscribed)
	await sent({ subscribed: true })
	await sent()
	t.true((await contact('anna@example.org')).subscribed)
	await sent({ subscribed: false })
	t.deepEqual(await events(), ['contact.subscribed', 'contact.unsubscribed'])
})

test('a MARKETING template is sent only to subscribed contacts, else nothing is written', async (t) => {
	const { send, createTemplate, createContact, written, sent, contact } = await setupSend(t)
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	await createContact('yes@a.org', { subscribed: true })
	await createContact('no@a.org')
	const before = await written()
	const refused = async (changes: object) => {
		const response = await send({ template, ...changes })
		t.is(response.statusCode, 400, response.body)
		const { error } = response.json()
		t.is(error.code, 'BAD_REQUEST')
		return `${error.message}: ${error.errors.map(({ field }: { field: string }) => field).join()}`
	}
	const why = 'is not subscribed, and the template is MARKETING'
	t.is(await refused({ to: 'No@a.org' }), `no@a.org ${why}: to`)
	t.is(await refused({ to: ['yes@a.org', 'new@a.org'] }), `new@a.org ${why}: to.1`)
	t.is(
		await refused({ to: ['no@a.org', { email: 'new@a.org' }] }),
		`no@a.org (and 1 more) ${why}: to.0,to.1`,
	)
	t.is(await refused({ to: 'yes@a.org', subscribed: false }), `yes@a.org ${why}: to`)
	t.deepEqual(await written(), before)
	t.is((await sent({ template, to: 'yes@a.org' })).type, 'TRANSACTIONAL')
	await sent({ template, to: ['no@a.org', 'new@a.org'], subscribed: true })
	t.true((await contact('new@a.org')).subscribed)
})

test('TRANSACTIONAL and HEADLESS templates are sent to any address, as transactional mail', async (t) => {
	const { sent, createTemplate, createContact, written } = await setupSend(t)
	await createContact('no@a.org')
	for (const type of ['TRANSACTIONAL', 'HEADLESS'] as const) {
		const { id: template } = await createTemplate({ type })
		const mail = await sent({ template, to: 'no@a.org' })
		t.like(mail, { type: 'TRANSACTIONAL', sourceType: 'TRANSACTIONAL', templateId: template })
	}
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 2, queued: 2 })
})
