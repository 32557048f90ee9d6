import test from 'ava'
import { mailsOfClaim } from '../db/emails/ledger.ts'
import { claimSends } from '../db/outbox/claims.ts'
import { setupMails } from './helpers/mails.ts'

test('a mail in doubt can be taken as sent: that is an event, once', async (t) => {
	const { ids, makeUncertain, resolve, events, written } = await setupMails(t, 1)
	const [id] = ids as [string]
	await makeUncertain(id)
	const both = await Promise.all([resolve(id, 'sent'), resolve(id, 'sent')])
	t.deepEqual(
		both.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
		[200, 409],
	)
	const resolved = both.find(({ statusCode }) => statusCode === 200)!.json()
	t.like(resolved, { id, status: 'SENT', sentAt: '2026-01-31T12:00:00.000Z', error: null })
	t.deepEqual(await events(), ['email.sent'])
	t.is((await written()).queued, 1)
})

test('a mail in doubt can be tried again: it is queued, and a worker finds it', async (t) => {
	const { ids, makeUncertain, resolve, pool, wakes, events } = await setupMails(t, 1)
	const [id] = ids as [string]
	await makeUncertain(id)
	await pool.query('delete from queued_sends')
	const before = wakes.count
	const response = await resolve(id, 'retry')
	t.is(response.statusCode, 200)
	t.like(response.json(), { id, status: 'PENDING', possibleRepeat: true })
	t.is(wakes.count, before + 1)
	t.deepEqual(await events(), [])
	const [row] = await claimSends(pool, {
		requestsPerRun: 500,
		mailsPerRun: 2000,
		newRunsPerProject: 2,
		lockSeconds: 1.5,
		taskQueue: 'core',
		runsPerProject: 8,
	})
	const { claimId } = row!.payload as { claimId: string }
	t.deepEqual(
		(await mailsOfClaim(pool, { claimId, provider: 'local' })).map((mail) => [
			mail.id,
			mail.attempt,
		]),
		[[id, 1]],
	)
})

test('a mail whose domain the project has lost is not tried again', async (t) => {
	const { ids, makeUncertain, resolve, pool, mails } = await setupMails(t, 1)
	const [id] = ids as [string]
	await makeUncertain(id)
	await pool.query('update domains set verified_at = null')
	const response = await resolve(id, 'retry')
	t.is(response.statusCode, 403)
	t.regex(response.json().error.message, /^The sender's domain example\.com is not verified yet/)
	t.is((await mails())[0]!.status, 'UNCERTAIN')
	t.is((await resolve(id, 'sent')).statusCode, 200)
})

test('only a mail in doubt can be resolved, and only as sent or retry', async (t) => {
	const { ids, resolve, written } = await setupMails(t, 1)
	const [id] = ids as [string]
	for (const as of ['sent', 'retry']) {
		const response = await resolve(id, as)
		t.is(response.statusCode, 409)
		t.like(response.json().error, {
			code: 'CONFLICT',
			message: 'This mail is PENDING, not UNCERTAIN',
			details: { status: 'PENDING' },
		})
	}
	const bad = await resolve(id, 'lost')
	t.is(bad.statusCode, 422)
	t.like(bad.json().error.errors[0], { field: 'as', code: 'invalid_enum_value' })
	t.is((await resolve(crypto.randomUUID(), 'sent')).statusCode, 404)
	t.is((await resolve('anna', 'sent')).statusCode, 404)
	t.is((await written()).queued, 1)
})
