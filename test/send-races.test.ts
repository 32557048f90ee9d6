import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMeter } from './helpers/cpu.ts'
import { hold } from './helpers/locks.ts'
import { nothing, setupSend } from './helpers/send.ts'

type Send = Awaited<ReturnType<typeof setupSend>>['send']

const statuses = async (requests: ReturnType<Send>[]) =>
	(await Promise.all(requests)).map(({ statusCode }) => statusCode)
const times = <T>(count: number, make: (index: number) => T) =>
	Array.from({ length: count }, (_, i) => make(i))

test('20 requests at once for one new address make one contact and 20 mails', async (t) => {
	const { send, written, events } = await setupSend(t)
	const codes = await statuses(times(20, (i) => send({ subscribed: true, data: { [`k${i}`]: i } })))
	t.deepEqual(new Set(codes), new Set([200]))
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 20, queued: 20 })
	t.deepEqual(await events(), [])
})

test('20 simultaneous requests that subscribe one contact emit one event and keep all data', async (t) => {
	const { send, createContact, contact, events } = await setupSend(t)
	await createContact('anna@example.org', { data: { first: true } })
	await statuses(times(20, (i) => send({ subscribed: true, data: { [`k${i}`]: i } })))
	t.deepEqual(await events(), ['contact.subscribed'])
	t.is(Object.keys((await contact('anna@example.org')).data).length, 21)
	await statuses(times(20, (i) => send({ subscribed: false, data: { [`k${i}`]: null } })))
	t.deepEqual(await events(), ['contact.subscribed', 'contact.unsubscribed'])
	t.deepEqual((await contact('anna@example.org')).data, { first: true })
})

test('30 requests at once with overlapping recipients in any order all get through', async (t) => {
	const { send, written } = await setupSend(t)
	const addresses = times(20, (i) => `to-${i}@a.org`)
	const shuffled = () => addresses.toSorted(() => Math.random() - 0.5).slice(0, 15)
	for (const round of times(2, (i) => i)) {
		const codes = await statuses(times(30, () => send({ to: shuffled(), data: { round } })))
		t.deepEqual(new Set(codes), new Set([200]))
	}
	const { contacts, emails, queued } = await written()
	t.deepEqual([contacts, emails, queued], [20, 2 * 30 * 15, 60])
})

test('a contact that is deleted, or renamed, while a send wants it is written again', async (t) => {
	for (const change of [
		`delete from contacts where email = 'anna@example.org'`,
		`update contacts set email = 'renamed@example.org' where email = 'anna@example.org'`,
	]) {
		const { send, createContact, mails, contact, pool } = await setupSend(t)
		await createContact('anna@example.org')
		const held = await hold(pool, 'queued_sends')
		const response = send({ body: 'x' })
		await held.waiting(1)
		await held.query(change)
		await held.letGo()
		t.is((await response).statusCode, 200)
		t.is((await mails())[0]!.contactId, (await contact('anna@example.org')).id)
	}
})

test('a template that is deleted while a send wants it is 404, and nothing is written', async (t) => {
	const { send, createTemplate, written, pool } = await setupSend(t)
	const { id: template } = await createTemplate()
	const held = await hold(pool, 'queued_sends')
	const response = send({ template })
	await held.waiting(1)
	await held.query('delete from templates')
	await held.letGo()
	t.is((await response).statusCode, 404)
	t.deepEqual(await written(), nothing)
})

/** Sends with one Idempotency-Key. */
async function setupKeyed(t: Parameters<typeof setupSend>[0]) {
	const all = await setupSend(t)
	const headers = { ...all.withSecretKey, 'idempotency-key': 'order-1' }
	return { ...all, keyed: (changes = {}) => all.send(changes, headers) }
}

test('of two simultaneous requests with one key one is performed, and a third gets its answer', async (t) => {
	const { keyed, mails, written } = await setupKeyed(t)
	const both = await Promise.all([keyed(), keyed()])
	t.deepEqual(new Set(both.map(({ statusCode }) => statusCode)), new Set([200, 409]))
	const [first] = both.filter(({ statusCode }) => statusCode === 200)
	const third = await keyed({ to: 'other@example.org' })
	t.is(third.statusCode, 409)
	const { details } = third.json().error
	t.like(details, { originalRequest: 'POST /v1/send', originalStatusCode: 200 })
	t.deepEqual(details.response, first!.json())
	t.is(details.response.data.emails[0].email, (await mails())[0]!.id)
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 1, queued: 1 })
})

test('every refusal gives the key back', async (t) => {
	const { keyed, createTemplate } = await setupKeyed(t)
	const { id: template } = await createTemplate({ type: 'MARKETING' })
	t.is((await keyed({ to: 'x' })).statusCode, 422)
	t.is((await keyed({ body: '{{ x' })).statusCode, 422)
	t.is((await keyed({ template })).statusCode, 400)
	t.is((await keyed({ template: crypto.randomUUID() })).statusCode, 404)
	t.is((await keyed({ from: 'a@unknown.com' })).statusCode, 403)
	t.is((await keyed()).statusCode, 200)
	t.is((await keyed()).statusCode, 409)
})

test('a lost race is run again under the same key', async (t) => {
	const { keyed, send, pool, written } = await setupKeyed(t)
	const held = await hold(pool, 'queued_sends')
	// One after the other, so that they don't share a statement.
	const first = send()
	await held.waiting(1)
	const second = keyed()
	await held.waiting(2)
	await held.letGo()
	t.deepEqual(await statuses([first, second]), [200, 200])
	t.is((await keyed()).statusCode, 409)
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 2, queued: 2 })
})

test('of requests that share a statement, one that loses its race fails none of the others', async (t) => {
	const { send, pool, written } = await setupSend(t)
	const held = await hold(pool, 'queued_sends')
	// Two statements are under way, so the rest waits and shares the next one.
	const first = send({ to: 'a@example.org' })
	await held.waiting(1)
	const second = send({ to: 'b@example.org' })
	await held.waiting(2)
	const others = ['c', 'c', 'd', 'e'].map((name) => send({ to: `${name}@example.org` }))
	await held.letGo()
	t.deepEqual(new Set(await statuses([first, second, ...others])), new Set([200]))
	t.deepEqual(await written(), { ...nothing, contacts: 5, emails: 6, queued: 6 })
})

test('a request whose key was taken over writes nothing and is 409', async (t) => {
	const { keyed, pool, written, mails } = await setupKeyed(t)
	const held = await hold(pool, 'templates')
	const late = keyed({ to: 'late@example.org' })
	await held.waiting(1)
	await pool.query(`update idempotency_keys set claimed_at = now() - interval '61 seconds'`)
	const successor = keyed({ to: 'successor@example.org' })
	await held.waiting(2)
	await held.letGo()
	t.deepEqual(await statuses([late, successor]), [409, 200])
	t.is((await late).json().error.code, 'IDEMPOTENCY_KEY_REUSED')
	t.deepEqual(await written(), { ...nothing, contacts: 1, emails: 1, queued: 1 })
	t.is((await mails())[0]!.to, 'successor@example.org')
	const { details } = (await keyed()).json().error
	t.deepEqual(details.response, (await successor).json())
})

// Serial, because the others render on the same thread.
test.serial('while one request renders at length, others are served in between', async (t) => {
	const { send, app } = await setupSend(t)
	const endless = `${'{% for i in (1..9999) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`
	let isOver = false
	const long = send({ to: times(6, (i) => `to-${i}@a.org`), body: endless })
	const ended = long.finally(() => (isOver = true))
	let longestMs = 0
	while (!isOver) {
		const spentMs = cpuMeter()
		await app.inject('/config')
		await sleep(1)
		longestMs = Math.max(longestMs, spentMs())
	}
	await ended
	// Each of the six mails takes half a second, until its limit stops it.
	t.true(longestMs < 1500, `${longestMs} ms`)
})

test('a request that would render for more than 5 seconds is refused', async (t) => {
	const { refused, written } = await setupSend(t)
	const endless = `${'{% for i in (1..9999) %}'.repeat(4)}x${'{% endfor %}'.repeat(4)}`
	const to = times(20, (i) => `to-${i}@a.org`)
	t.deepEqual(await refused({ to, body: endless }), ['to: too_big'])
	t.deepEqual(await written(), nothing)
})
