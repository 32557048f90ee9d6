import test from 'ava'
import type { Outcome } from '../outside/providers/provider.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

const unknown: Outcome = { kind: 'UNKNOWN', error: 'The connection went away' }

test('patience begins with the first attempt, however long the mail had waited for it', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`update emails set created_at = now() - interval '5 days'`)
	const { provider } = scriptedProvider(() => ({
		kind: 'DEFERRED',
		error: '450 Later',
		retryAfterMs: 60_000,
	}))
	const { pass } = await worker(provider)
	const claimId = claimOf((await claim())[0])
	t.like(await pass(claimId), { left: 1 })
	t.like(await mail(id!), { status: 'PENDING', attempt: 1 })
	// It has had the other tries of an hour.
	await execute(
		`update emails set due_at = null, attempt = 7, first_attempt_at = now() - interval '4 days'`,
	)
	t.like(await pass(claimId), { left: 0 })
	t.like(await mail(id!), { status: 'FAILED', attempt: 8 })
})

test('a mail that may have been accepted is never FAILED, and is not repeated after a day', async (t) => {
	const { send, claim, worker, mail, execute, attempts } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const [other] = await send(['bob@example.org'])
	await execute(`update emails set first_attempt_at = now() - interval '24 hours'`)
	const { provider } = scriptedProvider(
		({ to }) =>
			to.email === 'ann@example.org'
				? unknown
				: { kind: 'UNAVAILABLE', error: '500', retryAfterMs: null, mayBeTaken: true },
		{ idempotent: true, name: 'resend' },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 2 })
	for (const one of [id!, other!]) {
		t.like(await mail(one), { status: 'UNCERTAIN', attempt: 1 })
		t.deepEqual(await attempts(one), ['UNKNOWN'])
	}
})

test('of a mail that was tried for a day, an idempotent provider is not asked once more', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	await execute(`update emails set status = 'SENDING', attempt = 2, provider = 'resend',
		attempt_started_at = now(), first_attempt_at = now() - interval '24 hours'`)
	const { provider, handed } = scriptedProvider(undefined, { idempotent: true, name: 'resend' })
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 1 })
	t.is(handed.length, 0)
	t.like(await mail(id!), { status: 'UNCERTAIN' })
})

test('a mail that waits for another try comes into doubt once nobody can tell a repeat from the first', async (t) => {
	const { send, claim, worker, mail, pool } = await setupLedger(t)
	const tried = (id: string, ago: string) =>
		pool.query(
			`with tried as (
				update emails set attempt = 1, provider = 'resend', attempt_started_at = now() - $2::interval,
					first_attempt_at = now() - $2::interval where id = $1 returning *)
			insert into attempts (project_id, email_id, attempt, at, outcome, provider)
			select project_id, id, 1, attempt_started_at, 'UNKNOWN', 'resend' from tried`,
			[id, ago],
		)
	const passWith = async (name: 'resend' | 'smtp') => {
		const { provider, handed } = scriptedProvider(undefined, {
			name,
			idempotent: name === 'resend',
		})
		const { pass } = await worker(provider)
		const claimId = claimOf((await claim())[0])
		await pool.query('delete from outbox')
		await pass(claimId)
		return handed.length
	}
	const [known] = await send(['ann@example.org'])
	await tried(known!, '1 hour')
	t.is(await passWith('resend'), 1)
	t.like(await mail(known!), { status: 'SENT', possibleRepeat: false })
	const [forgotten] = await send(['bob@example.org'])
	await tried(forgotten!, '25 hours')
	await pool.query('update emails set attempt_started_at = now() where id = $1', [forgotten])
	t.is(await passWith('resend'), 0)
	t.like(await mail(forgotten!), { status: 'UNCERTAIN', attempt: 1 })
	const [elsewhere] = await send(['cy@example.org'])
	await tried(elsewhere!, '1 minute')
	t.is(await passWith('smtp'), 0)
	t.like(await mail(elsewhere!), { status: 'UNCERTAIN', attempt: 1 })
	// After ten minutes it is sent again, and says so.
	await pool.query(
		`update emails set attempt_started_at = now() - interval '1 hour' where id = $1`,
		[elsewhere],
	)
	const { provider } = scriptedProvider()
	const { pass } = await worker(provider)
	const { rows } = await pool.query<{ claim: string }>(
		'select claim_id as claim from queued_sends where email_ids = array[$1::uuid]',
		[elsewhere],
	)
	await pass(rows[0]!.claim)
	t.like(await mail(elsewhere!), { status: 'SENT', possibleRepeat: true })
})

for (const [word, state] of [
	['that a dead worker had', `status = 'SENDING', attempt_started_at = now()`],
	['in doubt', `status = 'UNCERTAIN', attempt_started_at = now() - interval '1 hour'`],
])
	test(`a mail ${word} is not repeated to an address that has been suppressed since`, async (t) => {
		const { send, claim, worker, mail, execute, project } = await setupLedger(t)
		const [id] = await send(['ann@example.org'])
		await execute(`update emails set attempt = 1, provider = 'resend', ${state}`)
		await execute(
			`insert into suppressions (project_id, email, reason) values (?, ?, 'COMPLAINT')`,
			[project.id, 'ann@example.org'],
		)
		const { provider, handed } = scriptedProvider(undefined, { idempotent: true, name: 'resend' })
		const { pass } = await worker(provider)
		t.like(await pass(claimOf((await claim())[0])), { left: 0 })
		t.is(handed.length, 0)
		t.like(await mail(id!), { status: 'SUPPRESSED' })
	})

for (const [outcome, status] of [
	[{ kind: 'REJECTED', error: '554 No', bounce: false }, 'FAILED'],
	[{ kind: 'DEFERRED', error: '450 Later', retryAfterMs: 60_000 }, 'PENDING'],
	[{ kind: 'UNAVAILABLE', error: '421 Later', retryAfterMs: 60_000 }, 'PENDING'],
] as [Outcome, string][])
	test(`a late ${outcome.kind} settles the doubt, too`, async (t) => {
		const { send, claim, worker, mail, attempts } = await setupLedger(t)
		const [id] = await send(['ann@example.org'])
		const claimId = claimOf((await claim())[0])
		const answer = Promise.withResolvers<void>()
		const asked = Promise.withResolvers<void>()
		const { provider } = scriptedProvider(async () => {
			asked.resolve()
			await answer.promise
			return outcome
		})
		const [one, two] = [await worker(provider), await worker(provider)]
		const first = one.pass(claimId)
		await asked.promise
		await two.pass(claimId)
		t.like(await mail(id!), { status: 'UNCERTAIN' })
		answer.resolve()
		await first
		const settled = await mail(id!)
		t.is(settled.status, status as typeof settled.status)
		t.is(settled.dueAt !== null, status === 'PENDING')
		t.deepEqual(await attempts(id!), [outcome.kind])
	})

test('an error with half a character in it, or NUL, is recorded as well as may be', async (t) => {
	const { send, claim, worker, mail } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const { provider } = scriptedProvider(() => ({
		kind: 'REJECTED',
		error: 'no \ud83d\0!',
		bounce: false,
	}))
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	t.like(await mail(id!), { status: 'FAILED', error: 'no \ufffd!' })
})

test('a provider that does not answer is tested at growing intervals, with one mail', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	for (const name of ['a', 'b', 'c']) await send([`${name}@example.org`])
	const { provider, handed } = scriptedProvider(
		() => (handed.length <= 5 ? unknown : undefined) as Outcome,
		{ idempotent: true, name: 'resend' },
	)
	const { pass } = await worker(provider)
	t.like(await pass(claimOf((await claim())[0])), { left: 0 })
	// Three that were under way together, then one after a second, one two seconds later, then all.
	t.is(handed.length, 8)
	t.true(handed[3]!.at - handed[2]!.at >= 990)
	t.true(handed[4]!.at - handed[3]!.at >= 1990)
	t.true(handed[5]!.at - handed[4]!.at >= 3990)
})
