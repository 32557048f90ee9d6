import test from 'ava'
import { setupSend } from './helpers/send.ts'

test('copies are stored with the one mail, and no contact is made for them', async (t) => {
	const { sent, app, withSecretKey, written } = await setupSend(t)
	const { id } = await sent({
		cc: { email: 'Bob@Example.org', name: 'Bob' },
		bcc: ['carl@example.org', { email: 'dora@example.org' }],
	})
	const { contacts, emails } = await written()
	t.deepEqual({ contacts, emails }, { contacts: 1, emails: 1 })
	const shown = {
		cc: [{ email: 'bob@example.org', name: 'Bob', error: null }],
		bcc: ['carl@example.org', 'dora@example.org'].map((email) => ({
			email,
			name: null,
			error: null,
		})),
	}
	t.like((await app.inject({ url: `/emails/${id}`, headers: withSecretKey })).json(), shown)
	const list = await app.inject({ url: '/emails', headers: withSecretKey })
	t.like(list.json<{ data: object[] }>().data[0], shown)
	const plain = await sent({ cc: [], bcc: null })
	const other = await app.inject({ url: `/emails/${plain.id}`, headers: withSecretKey })
	t.like(other.json(), { cc: [], bcc: [] })
})

test('copies need exactly one recipient, and no address is in a message twice', async (t) => {
	const { refused, sent } = await setupSend(t)
	const [ann, bob] = ['anna@example.org', 'bob@example.org']
	t.deepEqual(await refused({ to: [ann, 'x@example.org'], cc: bob, bcc: 'carl@example.org' }), [
		'cc: custom',
		'bcc: custom',
	])
	t.deepEqual(await refused({ cc: [bob, 'ANNA@example.org'], bcc: bob }), [
		'cc.1: custom',
		'bcc: custom',
	])
	t.deepEqual(await refused({ cc: ['nobody'] }), ['cc.0: invalid_string'])
	await sent({ to: [ann], cc: bob })
})

test('a message has at most 50 copies', async (t) => {
	const { refused, sent } = await setupSend(t)
	const many = (count: number, kind: string) =>
		Array.from({ length: count }, (_, n) => `${kind}${n}@example.org`)
	t.deepEqual(await refused({ cc: many(26, 'cc'), bcc: many(25, 'bcc') }), ['bcc: too_big'])
	t.deepEqual(await refused({ cc: many(51, 'cc') }), ['cc: too_big'])
	const mail = await sent({ cc: many(25, 'cc'), bcc: many(25, 'bcc') })
	t.is(mail.copies!.length, 50)
})

test('a MARKETING template has no copies, which have agreed to nothing', async (t) => {
	const { refused, createTemplate, send } = await setupSend(t)
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	const changes = { template, subscribed: true }
	t.deepEqual(await refused({ ...changes, bcc: 'bob@example.org' }), ['bcc: custom'])
	t.is((await send(changes)).statusCode, 200)
})

test('each message of a batch has its own copies, and an error names its message', async (t) => {
	const { app, withSecretKey, mails } = await setupSend(t)
	const message = { from: 'app@example.com', subject: 'Hi', body: '<p>Hi</p>' }
	const batch = (payload: object[]) =>
		app.inject({ method: 'POST', url: '/v1/send/batch', headers: withSecretKey, payload })
	const accepted = await batch([
		{ ...message, to: 'ann@example.org', cc: 'bob@example.org' },
		{ ...message, to: 'bob@example.org' },
	])
	t.is(accepted.statusCode, 200, accepted.body)
	t.deepEqual(
		(await mails()).map(({ copies }) => copies?.map(({ email }) => email) ?? null),
		[['bob@example.org'], null],
	)
	const refused = await batch([
		{ ...message, to: 'ann@example.org' },
		{ ...message, to: 'ann@example.org', cc: 'ann@example.org' },
	])
	t.is(refused.statusCode, 422)
	t.is(refused.json<{ error: { errors: { field: string }[] } }>().error.errors[0]!.field, '1.cc')
})
