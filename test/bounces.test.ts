import test from 'ava'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

const unknown = { kind: 'REJECTED', error: '550 5.1.1 No such user', bounce: true } as const

test('an address that is refused at the hand-over gets no more mail, and its contact is unsubscribed', async (t) => {
	const { send, claim, worker, mail, execute, attempts } = await setupLedger(t)
	const { provider, handed } = scriptedProvider(({ to }) =>
		to.email === 'gone@example.org' ? unknown : undefined,
	)
	const [gone, fine] = await send(['gone@example.org', 'fine@example.org'])
	await execute('update contacts set subscribed = true')
	const one = await worker(provider)
	await one.pass(claimOf((await claim())[0]))

	t.like(await mail(gone!), { status: 'BOUNCED', error: unknown.error, sentAt: null })
	t.truthy((await mail(gone!)).bouncedAt)
	t.deepEqual(await attempts(gone!), ['REJECTED'])
	t.like(await mail(fine!), { status: 'SENT', bouncedAt: null })
	t.deepEqual(await execute('select email, reason, email_id from suppressions'), [
		{ email: 'gone@example.org', reason: 'BOUNCE', email_id: gone },
	])
	t.deepEqual(await execute('select email from contacts where not subscribed'), [
		{ email: 'gone@example.org' },
	])
	const events = await execute<{ name: string; email_id: string; data: object }>(
		'select name, email_id, data from events order by name',
	)
	t.deepEqual(
		events.map(({ name, email_id }) => [name, email_id]),
		[
			['contact.unsubscribed', null],
			['email.bounce', gone],
		],
	)
	t.like(events[1]!.data, {
		bounceType: 'Permanent',
		emailId: gone,
		sentAt: null,
		subject: 'To gone@example.org',
	})

	// The next one stops before the hand-over.
	const [next] = await send(['gone@example.org'])
	await one.pass(claimOf((await claim())[0]))
	t.like(await mail(next!), { status: 'SUPPRESSED' })
	t.is(handed.length, 2)
})

test('a refusal that is not about the address has no consequences', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const { provider } = scriptedProvider(() => ({ ...unknown, bounce: false }))
	const [id] = await send(['anna@example.org'])
	await execute('update contacts set subscribed = true')
	await (await worker(provider)).pass(claimOf((await claim())[0]))
	t.like(await mail(id!), { status: 'FAILED', bouncedAt: null })
	t.deepEqual(await execute('select 1 from suppressions'), [])
	t.deepEqual(await execute('select name from events'), [])
	t.deepEqual(await execute('select 1 from contacts where not subscribed'), [])
})

test('an address on the list keeps the reason it came for; another project knows nothing of it', async (t) => {
	const { send, claim, worker, execute, newProject, project } = await setupLedger(t)
	const other = await newProject()
	await send(['gone@example.org'], other.id)
	await execute(`update contacts set subscribed = true`)
	const { provider } = scriptedProvider(({ projectId }) =>
		projectId === project.id ? unknown : undefined,
	)
	await send(['gone@example.org'])
	const one = await worker(provider)
	const runs = await claim()
	// The address is suppressed while the mail is under way.
	await execute(
		`insert into suppressions (project_id, email, reason) values (?, 'gone@example.org', 'MANUAL')`,
		[other.id],
	)
	for (const run of runs.filter((run) => run.project_id === project.id))
		await one.pass(claimOf(run))
	t.deepEqual(await execute('select project_id, reason from suppressions order by reason'), [
		{ project_id: project.id, reason: 'BOUNCE' },
		{ project_id: other.id, reason: 'MANUAL' },
	])
	t.deepEqual(await execute('select project_id from contacts where not subscribed'), [
		{ project_id: project.id },
	])
})
