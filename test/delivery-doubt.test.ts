import test from 'ava'
import type { Outcome } from '../outside/providers/provider.ts'
import { eraseContact } from '../db/contacts/contact-erasing.ts'
import { inChunk } from '../db/transaction.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

const unknown: Outcome = { kind: 'UNKNOWN', error: 'The connection went away' }

test('a mail whose worker died is in doubt, and stays so while doubt may be settled', async (t) => {
	const { send, claim, worker, mail, attempts, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	await execute(
		`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now(), provider = 'smtp'`,
	)
	const { provider, handed } = scriptedProvider()
	const { pass, finish } = await worker(provider)
	const rest = await pass(claimId)
	t.is(rest.left, 1)
	t.true(rest.waitMs > 590_000 && rest.waitMs <= 600_000)
	t.is(handed.length, 0)
	t.false(await finish(claimId))
	t.like(await mail(id!), { status: 'UNCERTAIN', possibleRepeat: false })
	t.deepEqual(await attempts(id!), ['UNKNOWN'])
})

test('after the doubt period transactional mail is sent once more and marked', async (t) => {
	const { send, claim, worker, mail, attempts } = await setupLedger(t, { uncertainAfterMs: 300 })
	const [id] = await send(['ann@example.org'])
	const { provider, handed } = scriptedProvider((_, earlier) =>
		earlier === 0 ? unknown : undefined,
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.is(handed.length, 2)
	t.true(handed[1]!.at - handed[0]!.at >= 290)
	t.like(await mail(id!), { status: 'SENT', possibleRepeat: true, attempt: 2 })
	t.deepEqual(await attempts(id!), ['UNKNOWN', 'SENT'])
})

test('if every try ends in doubt, a mail is repeated three times, then waits for a decision', async (t) => {
	const { send, claim, worker, mail, attempts } = await setupLedger(t, { uncertainAfterMs: 50 })
	const [id] = await send(['ann@example.org'])
	const { provider, handed } = scriptedProvider(() => unknown)
	const { pass, finish } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	t.like(await pass(claimId), { left: 0 })
	t.true(await finish(claimId), 'nobody holds on to it')
	t.is(handed.length, 4)
	t.like(await mail(id!), { status: 'UNCERTAIN', possibleRepeat: true })
	t.deepEqual(await attempts(id!), ['UNKNOWN', 'UNKNOWN', 'UNKNOWN', 'UNKNOWN'])
})

test('a mail whose contact is erased during the hand-over is not repeated, and keeps no trace', async (t) => {
	const { pool, project, send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const { contactId } = await mail(id!)
	const { provider, handed } = scriptedProvider(async () => {
		await inChunk(pool, (db) => eraseContact(db, project.id, String(contactId)))
		return { kind: 'DEFERRED', error: '450 ann@example.org: try again', retryAfterMs: 60_000 }
	})
	const { pass, finish } = await worker(provider)
	t.like(await pass(claimId), { left: 1 })
	t.like(await pass(claimId), { left: 0 })
	t.true(await finish(claimId))
	t.is(handed.length, 1)
	t.like(await mail(id!), { status: 'CANCELLED', error: 'The contact was erased' })
	const kept = await execute(`select * from emails cross join attempts`)
	t.is(kept.length, 1)
	t.false(JSON.stringify(kept).includes('ann@'))
})

test('campaign mail in doubt is never repeated without its owner’s decision', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t, { uncertainAfterMs: 0 })
	const [id] = await send(['ann@example.org'])
	await execute(`update emails set source_type = 'CAMPAIGN'`)
	const { provider, handed } = scriptedProvider(() => unknown)
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	t.like(await pass(claimId), { left: 0 })
	t.like(await pass(claimId), { left: 0 })
	t.is(handed.length, 1)
	t.like(await mail(id!), { status: 'UNCERTAIN' })
})

test('a provider that knows our ids is simply asked again', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(
		`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now(), provider = 'resend'`,
	)
	const { provider, handed } = scriptedProvider(undefined, { idempotent: true, name: 'resend' })
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.is(handed.length, 1)
	t.like(await mail(id!), { status: 'SENT', possibleRepeat: false, attempt: 2 })
})

test('a mail that another provider may have taken is not handed to one that knows only its own', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(
		`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now(), provider = 'smtp'`,
	)
	const { provider, handed } = scriptedProvider(undefined, { idempotent: true, name: 'resend' })
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 1 })
	t.like(await mail(id!), { status: 'UNCERTAIN' })
	t.deepEqual(handed, [])
})

test('after a day even that provider has forgotten the id: then it is doubt', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(
		`update emails set status = 'SENDING', attempt = 1, attempt_started_at = now() - interval '25 hours'`,
	)
	const { provider } = scriptedProvider(undefined, { idempotent: true, name: 'resend' })
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.like(await mail(id!), { possibleRepeat: true, status: 'SENT' })
})

test('a second worker on the same mails doubts them, and the first one settles the doubt', async (t) => {
	const { send, claim, worker, mail, attempts } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const answer = Promise.withResolvers<void>()
	const asked = Promise.withResolvers<void>()
	const { provider, handed } = scriptedProvider(async () => {
		asked.resolve()
		await answer.promise
		return { kind: 'SENT', providerMessageId: 'late' }
	})
	const [one, two] = [await worker(provider), await worker(provider)]
	const first = one.pass(claimId)
	await asked.promise
	t.like(await two.pass(claimId), { left: 1 })
	t.like(await mail(id!), { status: 'UNCERTAIN' })
	answer.resolve()
	t.like(await first, { left: 0 })
	t.is(handed.length, 1)
	t.like(await mail(id!), { status: 'SENT', providerMessageId: 'late' })
	t.deepEqual(await attempts(id!), ['SENT'])
})

test('a second run in the same process leaves the first one’s hand-overs alone, even after a long stall', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const answer = Promise.withResolvers<void>()
	const asked = Promise.withResolvers<void>()
	const { provider, handed } = scriptedProvider(async () => {
		asked.resolve()
		await answer.promise
		return { kind: 'SENT', providerMessageId: 'late' }
	})
	const { deliverClaim } = await worker(provider)
	const first = deliverClaim(claimId)
	await asked.promise
	await execute(`update emails set attempt_started_at = now() - interval '1 hour'`)
	t.like(await deliverClaim(claimId), { left: 1, because: 'another worker is delivering them' })
	t.like(await mail(id!), { status: 'SENDING', possibleRepeat: false })
	answer.resolve()
	t.like(await first, { left: 0 })
	t.is(handed.length, 1)
	t.like(await mail(id!), { status: 'SENT', attempt: 1 })
})
