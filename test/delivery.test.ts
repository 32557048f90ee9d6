import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import { seal, unseal } from '../db/domains/seal.ts'
import { Domain } from '../db/domains/domain.ts'
import { claimOf, scriptedProvider, sealingSecret, setupLedger } from './helpers/ledger.ts'

test('a mail is delivered, its attempt recorded, and the event emitted', async (t) => {
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
		`select s.name, event_data(s.name, s.data, project_id, email_id) as data, contact_id
		from projects p, sent_mails(p.id, '-infinity', 'infinity') s`,
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

test('an unreachable provider loses no mail: the set waits, one mail tests it, then all are sent', async (t) => {
	const { send, claim, worker, mail, attempts } = await setupLedger(t)
	const ids = (
		await Promise.all(['a', 'b', 'c'].map((name) => send([`${name}@example.org`])))
	).flat()
	let away = true
	const { provider, handed } = scriptedProvider(() =>
		away ? { kind: 'UNAVAILABLE', error: 'Connection refused', retryAfterMs: 60_000 } : undefined,
	)
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	const rest = await pass(claimId)
	t.is(rest.left, 3)
	t.true(rest.waitMs > 55_000 && rest.waitMs <= 60_000, String(rest.waitMs))
	t.is(rest.because, 'Connection refused')
	t.is(handed.length, 3)
	t.like(await mail(ids[0]!), { status: 'PENDING', error: 'Connection refused' })

	away = false
	const later = await worker(provider)
	t.like(await later.pass(claimId), { left: 0 })
	for (const id of ids) t.deepEqual(await attempts(id), ['UNAVAILABLE', 'SENT'])
})

test('a mail that alone makes the provider unavailable holds up no other', async (t) => {
	const { send, claim, worker, mail, newProject } = await setupLedger(t)
	const [bad] = await send(['bad@example.org'])
	const [good] = await send(['good@example.org'])
	const theirs = await newProject()
	const others: string[] = []
	for (let i = 0; i < 20; i++) others.push(...(await send([`other${i}@example.org`], theirs.id)))
	const { provider, handed } = scriptedProvider(
		async ({ to }) => {
			if (to.email.startsWith('bad'))
				return { kind: 'UNAVAILABLE', error: '450 4.7.1 Not from you', retryAfterMs: null }
			await sleep(20)
			return { kind: 'SENT', providerMessageId: 'q1' }
		},
		{ concurrency: 2 },
	)
	const { pass } = await worker(provider)
	await Promise.all((await claim()).map((row) => pass(claimOf(row))))
	t.like(await mail(good!), { status: 'SENT' })
	t.like(await mail(bad!), { status: 'PENDING' })
	t.is(handed.filter(({ to }) => to.startsWith('other')).length, others.length)
	const tries = handed.filter(({ to }) => to.startsWith('bad')).length
	t.true(tries <= 4, `${tries} tries`)
})

test('after the wait that a provider asked for because of one mail, the others go first', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	await send(['bad@example.org'])
	await send(['good@example.org'])
	await send(['fine@example.org'])
	const { provider, handed } = scriptedProvider(
		async ({ to }) =>
			to.email.startsWith('bad')
				? { kind: 'UNAVAILABLE', error: '503 Later', retryAfterMs: 2500 }
				: { kind: 'SENT', providerMessageId: 'q1' },
		{ concurrency: 1 },
	)
	const { pass } = await worker(provider)
	await Promise.all((await claim()).map((row) => pass(claimOf(row))))
	t.deepEqual(
		handed.slice(0, 3).map(({ to }) => to),
		['bad@example.org', 'good@example.org', 'fine@example.org'],
	)
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

test('the queued mail of an unverified owner is cancelled', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`update projects set owner_verified = false`)
	const { provider, handed } = scriptedProvider()
	const { pass } = await worker(provider)
	await pass(claimOf((await claim())[0]))
	t.is(handed.length, 0)
	t.like(await mail(id!), { status: 'CANCELLED' })
})

test('a stopping worker hands nothing more over, and leaves the rest to the next', async (t) => {
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

test('a mail that was settled meanwhile is left alone', async (t) => {
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

test('an address that is suppressed just before its mail is handed over gets nothing', async (t) => {
	const { send, claim, worker, mail, execute, project } = await setupLedger(t)
	const [, second] = await send(['a@example.org', 'b@example.org'])
	const { provider, order } = scriptedProvider(async () => {
		await execute(
			`insert into suppressions (project_id, email, reason) values (?, 'b@example.org', 'BOUNCE')`,
			[project.id],
		)
		return { kind: 'SENT', providerMessageId: null }
	})
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	await pass(claimId)
	t.like(await pass(claimId), { left: 0 })
	t.deepEqual(order(), ['a@example.org'])
	t.like(await mail(second!), { status: 'SUPPRESSED', attempt: 0 })
})

test('mail of a domain that has a key is signed with it, and the key lies sealed', async (t) => {
	const { orm, project, send, claim, worker, execute } = await setupLedger(t)
	const em = orm.em.fork()
	const domain = await em.findOneOrFail(Domain, { projectId: project.id })
	em.assign(domain, {
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

test('a mail whose sender’s domain was lost after it was accepted does not leave', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const { provider, order } = scriptedProvider(({ to }) =>
		to.email === 'late@example.org'
			? { kind: 'DEFERRED', error: '450 later', retryAfterMs: 3_600_000 }
			: undefined,
	)
	const { pass } = await worker(provider)
	const [late] = await send(['late@example.org'])
	const first = claimOf((await claim())[0])
	await pass(first)
	const [accepted] = await send(['ann@example.org'])
	const second = claimOf((await claim())[0])
	await execute('update domains set verified_at = null; update emails set due_at = null')
	for (const claimId of [first, second]) t.like(await pass(claimId), { left: 0 })
	t.deepEqual(order(), ['late@example.org'])
	for (const id of [late!, accepted!])
		t.like(await mail(id), {
			status: 'CANCELLED',
			error: 'The sender’s domain is not verified any more',
		})
})
