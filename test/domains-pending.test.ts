import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { addMember, createUser } from './helpers/people.ts'
import { logger, statuses } from './helpers/domains.ts'
import { setupResend } from './helpers/domains-resend.ts'
import { isEnvelope } from './helpers/envelope.ts'

const agedDays = (days: number) =>
	`update domains set awaited_since = now() - interval '${days} days', created_at = now() - interval '${days} days'`

test('a domain that stays unproved for 30 days is removed at Resend, and a check sets it up again', async (t) => {
	const { activities, add, own, pool, resend, sweep, verify } = await setupResend(t)
	const added = await add('example.org')
	const { id } = resend.find('example.org')!
	await pool.query(agedDays(29))
	t.like(await sweep(), { checked: 1 })
	t.is((await pool.query('select from outbox')).rowCount, 0)

	await pool.query(agedDays(31))
	t.like(await sweep(), { checked: 1 })
	const { rows } = await pool.query('select workflow_type as type, payload from outbox')
	t.deepEqual(rows, [{ type: 'removeDomain', payload: { providerDomainId: id } }])
	await new MockActivityEnvironment({}, { logger }).run(activities.removeProviderDomain, id)
	t.is(resend.domains.size, 0)
	const before = resend.requests.length
	await sweep()
	t.is(resend.requests.length, before, 'it is not set up again by itself')
	const { rows: left } = await pool.query(`select last_error as "lastError" from domains`)
	t.regex(left[0].lastError, /30 days, so it was removed at Resend/)

	const again = await verify(added.id)
	t.not(resend.find('example.org')!.id, id)
	t.deepEqual(Object.keys(statuses(again)).toSorted(), Object.keys(statuses(added)).toSorted())
	own(again)
	resend.settle('example.org', 'verified')
	t.like(await sweep(), { verified: 1 })
})

test('a domain is not removed at Resend while it is checked on request, proved, or was verified lately', async (t) => {
	const { add, own, pool, resend, sweep, verify } = await setupResend(t)
	const checked = await add('checked.example')
	own(await add('proved.example'))
	own(await add('verified.example'))
	resend.settle('verified.example', 'verified')
	t.like(await sweep(), { verified: 1 })
	await pool.query(agedDays(31))
	await verify(checked.id)
	await sweep()
	resend.settle('verified.example', 'failed')
	for (let turn = 0; turn < 4; turn++) await sweep()
	t.is((await pool.query(`select from outbox where workflow_type = 'removeDomain'`)).rowCount, 0)
})

test('with Resend an owner has at most 20 unverified domains in all projects, even if adding several at once', async (t) => {
	const { add, app, call, orm, own, pool, project, resend, rival, verify } = await setupResend(t)
	const { user } = await createUser(app, orm, 'owner@example.org')
	const [second, stranger] = [await rival(), await rival()]
	for (const owned of [project, second.project]) await addMember(orm, owned, user, 'OWNER')
	await pool.query(
		`insert into domains (project_id, domain)
		select $1, 'pending' || n || '.example' from generate_series(1, 18) n`,
		[project.id],
	)
	const proved = await add('proved.example')
	const answers = await Promise.all([
		...['a.example', 'b.example'].map((domain) => call('POST', '/domains', { domain })),
		...['c.example', 'd.example'].map((domain) => second.call('POST', '/domains', { domain })),
	])
	t.is(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
	t.is(answers.filter(({ statusCode }) => statusCode === 422).length, 3)
	const refused = await second.call('POST', '/domains', { domain: 'e.example' })
	const { errors } = isEnvelope(t, refused, 422, 'VALIDATION_ERROR')
	const message = 'is one too many: an owner has at most 20 unverified ones in all projects'
	t.deepEqual(errors, [{ field: 'domain', message, code: 'too_big' }])
	await stranger.add('f.example')
	own(proved)
	resend.settle('proved.example', 'verified')
	t.true((await verify(proved.id)).verified)
	await second.add('e.example')
})
