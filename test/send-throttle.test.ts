import test, { type ExecutionContext } from 'ava'
import { until } from '../bench/load.ts'
import { lockThrottled } from '../db/emails/throttling.ts'
import { transaction } from '../db/transaction.ts'
import { setupSend } from './helpers/send.ts'
import { usageSums } from './helpers/usage.ts'

interface Sent {
	contact: { email: string }
	email: string
	status?: string
}

async function setupThrottled(t: ExecutionContext, options: Parameters<typeof setupSend>[1] = {}) {
	const all = await setupSend(t, options)
	const { send, pool } = all
	return {
		...all,
		/** Sends at most once within a day, and returns what became of each recipient. */
		throttled: async (changes: object = {}, delivery: object = {}) => {
			const response = await send({ delivery: { throttle: '24h', ...delivery }, ...changes })
			t.is(response.statusCode, 200, response.body)
			return response.json<{ data: { emails: Sent[] } }>().data.emails
		},
		/** Lets hours pass for all mails. */
		pass: (hours: number) =>
			pool.query(`update emails set created_at = created_at - $1 * interval '1 hour'`, [hours]),
	}
}

const statuses = (sent: Sent[]) => sent.map(({ status = 'sent' }) => status)

test('a recipient who got the same subject within the window is skipped, with the earlier mail’s id', async (t) => {
	const { throttled, written, pass } = await setupThrottled(t)
	const [first] = await throttled({ subject: 'Hello {{ email }}' })
	t.is(first!.status, undefined)
	const before = await written()
	const again = await throttled({
		subject: 'Hello {{ email }}',
		to: ['anna@example.org', 'b@a.org'],
	})
	t.deepEqual(again[0], { ...first!, status: 'THROTTLED' })
	t.is(again[1]!.status, undefined)
	t.like(await written(), { emails: before.emails + 1, queued: before.queued + 1 })
	t.deepEqual(statuses(await throttled({ subject: 'Other' })), ['sent'])
	await pass(23)
	t.deepEqual(statuses(await throttled({ subject: 'Hello {{ email }}' })), ['THROTTLED'])
	await pass(1.1)
	t.deepEqual(statuses(await throttled({ subject: 'Hello {{ email }}' })), ['sent'])
})

test('mails with a template are compared by it, and others by throttleKey where they have one', async (t) => {
	const { throttled, createTemplate, refused, send } = await setupThrottled(t)
	const { id: template } = await createTemplate()
	const other = await createTemplate({ name: 'Other' })
	t.deepEqual(statuses(await throttled({ template, subject: 'One' })), ['sent'])
	t.deepEqual(statuses(await throttled({ template, subject: 'Two' })), ['THROTTLED'])
	t.deepEqual(statuses(await throttled({ template: other.id })), ['sent'])
	t.deepEqual(statuses(await throttled({ subject: 'One' })), ['sent'])
	const key = { throttleKey: 'digest' }
	t.deepEqual(statuses(await throttled({ subject: 'Three' }, key)), ['sent'])
	t.deepEqual(statuses(await throttled({ subject: 'Four' }, key)), ['THROTTLED'])
	t.deepEqual(statuses(await throttled({ subject: 'Three' })), ['sent'])
	// A mail that was sent without a throttle counts, too.
	await send({ subject: 'Plain' })
	t.deepEqual(statuses(await throttled({ subject: 'Plain' })), ['THROTTLED'])
	t.deepEqual(await refused({ template, delivery: { throttle: '1h', ...key } }), [
		'delivery.throttleKey: custom',
	])
	for (const throttle of ['24', 'h', '0h', '1 day', '-1h'])
		t.deepEqual(await refused({ delivery: { throttle } }), ['delivery.throttle: invalid_string'])
	t.deepEqual(await refused({ delivery: { throttle: '31d' } }), ['delivery.throttle: too_big'])
})

test('mails that were never sent don’t count', async (t) => {
	const { throttled, pool } = await setupThrottled(t)
	for (const status of ['FAILED', 'SUPPRESSED', 'CANCELLED']) {
		t.deepEqual(statuses(await throttled()), ['sent'])
		await pool.query('update emails set status = $1', [status])
	}
	t.deepEqual(statuses(await throttled()), ['sent'])
	await pool.query(`update emails set status = 'BOUNCED' where status = 'PENDING'`)
	t.deepEqual(statuses(await throttled()), ['THROTTLED'])
})

test('20 requests at once send one mail to each recipient, also to new ones', async (t) => {
	const { throttled, createContact, mails } = await setupThrottled(t)
	await createContact('old@a.org')
	const to = ['old@a.org', 'new@a.org', 'third@a.org']
	const answers = await Promise.all(
		Array.from({ length: 20 }, (_, i) => throttled({ to: i % 2 ? to : to.toReversed() })),
	)
	const sent = answers.flat().filter(({ status }) => !status)
	t.deepEqual(sent.map(({ contact }) => contact.email).toSorted(), to.toSorted())
	t.is((await mails()).length, 3)
	const idOf = new Map(sent.map(({ contact, email }) => [contact.email, email] as const))
	for (const { contact, email } of answers.flat()) t.is(email, idOf.get(contact.email)!)
})

test('requests that wait for the same recipient leave connections for others', async (t) => {
	const { throttled, app, pool, project, withSecretKey, mails } = await setupThrottled(t)
	const waiting = async () =>
		(
			await pool.query(`select from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database())`)
		).rowCount! > 0
	const requests = await transaction(pool, async (db) => {
		await lockThrottled(db, { projectId: project.id, emails: ['anna@example.org'] })
		const sends = Array.from({ length: 3 * pool.options.max }, () => throttled())
		t.true(await until(waiting, 10_000))
		for (let i = 0; i < 20; i++) {
			const { statusCode } = await app.inject({ url: '/contacts', headers: withSecretKey })
			t.is(statusCode, 200)
		}
		return { sends }
	})
	const answers = await Promise.all(requests.sends)
	t.is(answers.flat().filter(({ status }) => !status).length, 1)
	t.is((await mails()).length, 1)
})

test('a mail that is scheduled for later than the window skips nobody now', async (t) => {
	const { throttled } = await setupThrottled(t)
	const at = (hours: number) => ({ at: new Date(Date.now() + hours * 3_600_000).toISOString() })
	t.deepEqual(statuses(await throttled({}, at(25))), ['SCHEDULED'])
	t.deepEqual(statuses(await throttled()), ['sent'])
	const other = { subject: 'Other' }
	t.deepEqual(statuses(await throttled(other, at(23))), ['SCHEDULED'])
	t.deepEqual(statuses(await throttled(other)), ['THROTTLED'])
})

test('of two messages of a batch whose times are further apart than the window, both are sent', async (t) => {
	const { app, withSecretKey } = await setupThrottled(t)
	const message = { to: 'c@a.org', from: 'app@example.com', subject: 'Hi', body: 'Hi' }
	const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
	const response = await app.inject({
		method: 'POST',
		url: '/v1/send/batch',
		headers: withSecretKey,
		payload: [at(50), at(25), at(49)].map((time) => ({
			...message,
			delivery: { at: time, throttle: '24h' },
		})),
	})
	const { results } = response.json<{ data: { results: { emails: Sent[] }[] } }>().data
	t.deepEqual(
		results.flatMap(({ emails }) => statuses(emails)),
		['SCHEDULED', 'SCHEDULED', 'THROTTLED'],
	)
})

test('an address that is listed twice, or in two messages of a batch, gets one mail', async (t) => {
	const { throttled, app, withSecretKey, mails } = await setupThrottled(t)
	t.deepEqual(statuses(await throttled({ to: ['a@a.org', 'b@a.org', 'A@a.org'] })), [
		'sent',
		'sent',
		'THROTTLED',
	])
	const message = { to: 'c@a.org', from: 'app@example.com', subject: 'Hi', body: 'Hi' }
	const response = await app.inject({
		method: 'POST',
		url: '/v1/send/batch',
		headers: withSecretKey,
		payload: [message, { ...message, delivery: { throttle: '1h' } }, message],
	})
	const { results } = response.json<{ data: { results: { emails: Sent[] }[] } }>().data
	t.deepEqual(
		results.map(({ emails }) => statuses(emails)),
		[['sent'], ['THROTTLED'], ['sent']],
	)
	t.is(results[1]!.emails[0]!.email, results[0]!.emails[0]!.email)
	t.is((await mails()).length, 4)
})

test('the window is before the time of a scheduled mail, and mails that are scheduled count', async (t) => {
	const { throttled } = await setupThrottled(t)
	const at = (hours: number) => ({ at: new Date(Date.now() + hours * 3_600_000).toISOString() })
	t.deepEqual(statuses(await throttled()), ['sent'])
	t.deepEqual(statuses(await throttled({}, at(23))), ['THROTTLED'])
	t.deepEqual(statuses(await throttled({}, at(25))), ['SCHEDULED'])
	t.deepEqual(statuses(await throttled({}, at(48))), ['THROTTLED'])
	t.deepEqual(statuses(await throttled({}, at(50))), ['SCHEDULED'])
})

test('a skipped recipient costs nothing, and a request that skips all is remembered by its key', async (t) => {
	const { throttled, send, pool, withSecretKey, contact } = await setupThrottled(t, {
		settings: { features: { billing: true } as never },
	})
	const used = async () => (await usageSums(pool)).used
	const file = { filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }
	const [first] = await throttled()
	t.is(await used(), 1)
	const request = { delivery: { throttle: '24h' }, data: { plan: 'pro' }, attachments: [file] }
	const headers = { ...withSecretKey, 'idempotency-key': 'once' }
	const skipped = await send(request, headers)
	t.is(skipped.statusCode, 200, skipped.body)
	t.is(await used(), 1)
	t.is((await pool.query('select from attachments')).rowCount, 0)
	t.is((await pool.query('select from queued_sends')).rowCount, 1)
	t.deepEqual((await contact('anna@example.org')).data, { plan: 'pro' })
	const again = await send(request, headers)
	t.is(again.statusCode, 409)
	t.deepEqual(again.json().error.details.response.data.emails, [{ ...first!, status: 'THROTTLED' }])
})
