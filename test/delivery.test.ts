import test from 'ava'
import type { Outcome } from '../activities/providers/provider.ts'
import { seal, unseal } from '../activities/seal.ts'
import { Domain } from '../db/domain.ts'
import { claimOf, scriptedProvider, sealingSecret, setupLedger } from './helpers/ledger.ts'

const unknown: Outcome = { kind: 'UNKNOWN', error: 'The connection went away' }

test('a mail is delivered, its attempt recorded, and the event told', async (t) => {
	const { send, claim, worker, mail, attempts, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const { provider, order } = scriptedProvider()
	const { pass, finish } = await worker(provider)
	const claimId = claimOf((await claim())[0])

	t.like(await pass(claimId), { left: 0 })
	t.true(await finish(claimId))
	t.deepEqual(order(), ['ann@example.org'])
	t.like(await mail(id!), { status: 'SENT', attempt: 1, providerMessageId: 'q1', error: null })
	t.deepEqual(await attempts(id!), ['SENT'])
	const [event] = await execute<{ name: string; data: object; contact_id: string }>(
		'select name, data, contact_id from events',
	)
	t.like(event, { name: 'email.sent', data: { emailId: id, subject: 'To ann@example.org' } })
	t.deepEqual(await execute('select 1 from queued_sends'), [])
})

test('a refused address fails that mail only', async (t) => {
	const { send, claim, worker, mail } = await setupLedger(t)
	const [bad, good] = await send(['bad@example.org', 'good@example.org'])
	const { provider } = scriptedProvider(({ to }) =>
		to.email.startsWith('bad')
			? { kind: 'REJECTED', error: '550 No such user', bounce: true }
			: undefined,
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.like(await mail(bad!), { status: 'BOUNCED', error: '550 No such user' })
	t.like(await mail(good!), { status: 'SENT' })
})

test('an unreachable provider loses nothing: the set waits, one mail finds out, then all go', async (t) => {
	const { send, claim, worker, mail, attempts } = await setupLedger(t)
	const ids = (
		await Promise.all(['a', 'b', 'c'].map((name) => send([`${name}@example.org`])))
	).flat()
	let away = true
	const { provider, handed } = scriptedProvider(() =>
		away ? { kind: 'UNAVAILABLE', error: 'Connection refused', retryAfterMs: 8000 } : undefined,
	)
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	const rest = await pass(claimId)
	t.is(rest.left, 3)
	t.true(rest.waitMs > 6000 && rest.waitMs <= 8000, String(rest.waitMs))
	t.is(rest.because, 'Connection refused')
	t.is(handed.length, 3)
	t.like(await mail(ids[0]!), { status: 'PENDING', error: 'Connection refused' })

	away = false
	const later = await worker(provider)
	t.like(await later.pass(claimId), { left: 0 })
	for (const id of ids) t.deepEqual(await attempts(id), ['UNAVAILABLE', 'SENT'])
})

test('a deferred mail waits its time, and its neighbours do not wait with it', async (t) => {
	const { send, claim, worker, mail } = await setupLedger(t)
	const [slow] = await send(['slow@example.org'])
	const [quick] = await send(['quick@example.org'])
	const { provider, handed } = scriptedProvider(({ to }, earlier) =>
		to.email.startsWith('slow') && earlier === 0
			? { kind: 'DEFERRED', error: '450 Try later', retryAfterMs: 400 }
			: undefined,
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.like(await mail(slow!), { status: 'SENT', attempt: 2 })
	t.like(await mail(quick!), { status: 'SENT', attempt: 1 })
	const [first, second] = handed.filter(({ to }) => to.startsWith('slow'))
	t.true(second!.at - first!.at >= 390)
})

test('patience ends: a mail that could not be handed over for days has failed, and says why', async (t) => {
	const { send, claim, worker, mail } = await setupLedger(t, { patienceMs: 0 })
	const [id] = await send(['ann@example.org'])
	const { provider } = scriptedProvider(() => ({
		kind: 'DEFERRED',
		error: '450 Mailbox full',
		retryAfterMs: null,
	}))
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	const { status, error } = await mail(id!)
	t.is(status, 'FAILED')
	t.regex(error!, /450 Mailbox full/)
})

test('a suppressed address gets nothing, and its mail says why', async (t) => {
	const { send, claim, worker, mail, execute, project } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`insert into suppressions (project_id, email, reason) values (?, ?, 'COMPLAINT')`, [
		project.id,
		'ann@example.org',
	])
	const { provider, handed } = scriptedProvider()
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.is(handed.length, 0)
	const { status, error } = await mail(id!)
	t.is(status, 'SUPPRESSED')
	t.regex(error!, /COMPLAINT/)
})

test('the queued mail of a disabled project is cancelled', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`update projects set disabled_reason = 'EMAIL_REPUTATION'`)
	const { provider, handed } = scriptedProvider()
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.is(handed.length, 0)
	t.like(await mail(id!), { status: 'CANCELLED' })
})

test('the queued mail of an owner whose address is not verified is cancelled', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`update projects set owner_verified = false`)
	const { provider, handed } = scriptedProvider()
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.is(handed.length, 0)
	t.like(await mail(id!), { status: 'CANCELLED' })
})

test('the mails of one request leave one after the other, in their order', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	const recipients = Array.from({ length: 12 }, (_, i) => `r${i}@example.org`)
	await send(recipients)
	let underWay = 0
	const { provider, order } = scriptedProvider(async () => {
		t.is(++underWay, 1)
		await new Promise((resolve) => setTimeout(resolve, 5 * Math.random()))
		underWay -= 1
		return { kind: 'SENT', providerMessageId: null }
	})
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.deepEqual(order(), recipients)
})

test('the mails of different requests leave side by side, never more than the provider takes', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	for (let i = 0; i < 30; i++) await send([`r${i}@example.org`])
	let underWay = 0
	let most = 0
	const { provider } = scriptedProvider(
		async () => {
			most = Math.max(most, ++underWay)
			await new Promise((resolve) => setTimeout(resolve, 20))
			underWay -= 1
			return { kind: 'SENT', providerMessageId: null }
		},
		{ concurrency: 8 },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.is(most, 6, 'three quarters of eight, since one project must not take them all')
})

test('two workers together keep the send rate of a project', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t)
	await execute('update projects set send_rate_per_second = 20')
	for (let i = 0; i < 15; i++) await send([`a${i}@example.org`])
	const [first] = await claim()
	for (let i = 0; i < 15; i++) await send([`b${i}@example.org`])
	const [second] = await claim()
	const { provider, handed } = scriptedProvider()
	const [one, two] = [await worker(provider), await worker(provider)]
	await Promise.all([one.pass(claimOf(first)), two.pass(claimOf(second))])
	t.is(handed.length, 30)
	const rows = await execute<{ id: string; due: number }>(
		'select id, extract(epoch from due_at)::float8 * 1000 as due from emails order by due_at',
	)
	for (const [i, { due }] of rows.entries()) if (i > 0) t.true(due - rows[i - 1]!.due >= 49)
	const dueOf = new Map(rows.map(({ id, due }) => [id, due]))
	for (const { emailId, at } of handed) t.true(at >= dueOf.get(emailId)! - 1, 'none goes early')
})

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

test('when doubt has lasted, transactional mail goes once more and is marked', async (t) => {
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

test('campaign mail in doubt is never repeated without somebody asking for it', async (t) => {
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

test('a worker that is to stop hands nothing more over, and leaves the rest to the next', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	await send(Array.from({ length: 10 }, (_, i) => `r${i}@example.org`))
	const claimId = claimOf((await claim())[0])
	const { provider, handed } = scriptedProvider(async () => {
		first.stop()
		return { kind: 'SENT', providerMessageId: null }
	})
	const first = await worker(provider)
	t.like(await first.pass(claimId), { left: 9, waitMs: 0 })
	t.is(handed.length, 1)
	t.like(await (await worker(scriptedProvider().provider)).pass(claimId), { left: 0 })
})

test('a mail that somebody settled in the meantime is left alone', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [first, second] = await send(['a@example.org', 'b@example.org'])
	const { provider, order } = scriptedProvider(async () => {
		await execute(`update emails set status = 'CANCELLED' where id = ?`, [second])
		return { kind: 'SENT', providerMessageId: null }
	})
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.deepEqual(order(), ['a@example.org'])
	t.like(await mail(first!), { status: 'SENT' })
})

test('mail of a domain that has a key is signed with it, and the key lies sealed', async (t) => {
	const { orm, project, send, claim, worker, execute } = await setupLedger(t)
	const em = orm.em.fork()
	em.create(Domain, {
		projectId: project.id,
		domain: 'example.com',
		verifiedAt: new Date(),
		dkimSelector: 'tempost',
		dkimPrivateKey: seal(Buffer.from('the private key'), sealingSecret),
	})
	await em.flush()
	await send(['ann@example.org'])
	const { provider, handed } = scriptedProvider()
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.deepEqual(handed[0]!.dkim, {
		domain: 'example.com',
		selector: 'tempost',
		privateKey: 'the private key',
	})
	const [row] = await execute<{ key: Buffer }>('select dkim_private_key as key from domains')
	t.false(row!.key.includes('private'))
	t.throws(() => unseal(row!.key, 'another secret'))
})
