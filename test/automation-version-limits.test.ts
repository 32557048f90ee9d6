import test from 'ava'
import { openAutomations } from './helpers/automations.ts'
import { isEnvelope } from './helpers/envelope.ts'

test('a large workflow gets few new versions in an hour, and a small one many', async (t) => {
	const { create, pool } = await openAutomations(t)
	const opened = async (steps: number) => {
		const automation = await create()
		const config = { url: 'https://example.org', body: 'x'.repeat(60_000) }
		for (let made = 0; made < steps; made++) await automation.step('WEBHOOK', config)
		t.is((await automation.enable()).statusCode, 200)
		return automation
	}
	const large = await opened(15)
	const small = await opened(1)
	for (const allowReentry of [true, false])
		t.is((await large.change({ allowReentry })).statusCode, 200)
	await pool.query(`insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select project_id, id, n, '{}', '', '{}' from automations, generate_series(4, 120) n
		on conflict do nothing`)
	await pool.query('update automations set current_version = 120')
	const before = await large.get()
	const { details } = isEnvelope(
		t,
		await large.change({ allowReentry: true }),
		429,
		'RATE_LIMIT_EXCEEDED',
	)
	t.true(details.retryAfter > 3000 && details.retryAfter <= 3600, `${details.retryAfter}`)
	t.deepEqual(await large.get(), before)
	t.is((await large.versions()).length, 120)
	t.is((await small.change({ allowReentry: true })).statusCode, 200)
	t.is((await large.change({ name: 'Renamed', enabled: false })).statusCode, 200)
	t.is((await large.enable()).statusCode, 429)
	await pool.query(`update automation_versions set created_at = created_at - interval '1 hour'`)
	t.is((await large.enable()).statusCode, 200)
})

test('the newest ten thousand versions of a workflow are listed', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	await pool.query(`insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select project_id, id, n, '{}', '', '{}' from automations, generate_series(1, 10001) n`)
	const versions = await automation.versions()
	t.is(versions.length, 10_000)
	t.is(versions[0].version, 10_001)
})

/** Versions of three hours ago, one every five seconds, of the one automation. The last is the current one. */
const olderVersions = (count: number) => `
	insert into automation_versions (project_id, automation_id, version, definition, hash, positions)
		select project_id, id, n, '{}', '', '{}' from automations, generate_series(2, ${count}) n;
	update automations set current_version = ${count};
	update automation_versions set created_at = now() - interval '3 hours' + version * interval '5 seconds'`

test('a version that no execution used is removed after a thousand newer ones', async (t) => {
	const { create, call, pool, ok } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', { amount: 1, unit: 'days' })
	t.is((await automation.enable()).statusCode, 200)
	await pool.query(olderVersions(1001))
	// One began under version 1, and another, of version 3, was committed minutes after version 4.
	await pool.query(`insert into executions (project_id, id, automation_id, version, allow_reentry, status)
		select project_id, first_id_at(created_at + began), automation_id, version, false, 'COMPLETED'
		from automation_versions join (values (1, interval '1 second'), (3, interval '5 minutes')) used(version, began)
			using (version)`)
	const kept = async () =>
		(await automation.versions()).map(({ version }: { version: number }) => version).toReversed()
	for (const [allowReentry, oldest] of [
		[true, [1, 2, 3, 4, 5]],
		[false, [1, 3, 4, 5, 6]],
		[true, [1, 3, 4, 5, 6]],
		[false, [1, 3, 5, 6, 7]],
	] as const) {
		t.is((await automation.change({ allowReentry })).statusCode, 200)
		t.deepEqual((await kept()).slice(0, 5), oldest)
	}
	t.is((await call('GET', `/${automation.id}/versions/2`)).statusCode, 404)
	t.is((await ok('GET', `/${automation.id}/versions/1`)).version, 1)
	t.is((await ok('GET', `/${automation.id}/executions`)).data.length, 2)
	t.is((await automation.get()).version, 1005)
})

test('versions of one workflow never remove those of another', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', { amount: 1, unit: 'days' })
	const other = await create()
	await pool.query(olderVersions(1001))
	t.is((await automation.enable()).statusCode, 200)
	t.is((await automation.change({ allowReentry: true })).statusCode, 200)
	t.is((await automation.versions()).length, 1001)
	t.is((await other.versions()).length, 1000)
})

test('a workflow gets at most a thousand new versions in an hour, however small', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', { amount: 1, unit: 'days' })
	t.is((await automation.enable()).statusCode, 200)
	await pool.query(olderVersions(1000))
	await pool.query('update automation_versions set created_at = now()')
	isEnvelope(t, await automation.change({ allowReentry: true }), 429, 'RATE_LIMIT_EXCEEDED')
	await pool.query(
		`update automation_versions set created_at = now() - interval '1 hour' where version = 1`,
	)
	t.is((await automation.change({ allowReentry: true })).statusCode, 200)
})

test('a project gets few copies of large workflows in an hour, and many of small ones', async (t) => {
	const { create, call, pool } = await openAutomations(t)
	const large = await create()
	const config = { url: 'https://example.org', body: 'x'.repeat(60_000) }
	for (let made = 0; made < 15; made++) await large.step('WEBHOOK', config)
	const small = await create()
	const copy = (id: string) => call('POST', `/${id}/duplicate`)
	const first = await copy(large.id)
	t.is(first.statusCode, 201)
	await pool.query('update throttles set tries = array_fill(now(), array[120])')
	const before = await pool.query('select from automations')
	// A copy counts with its original.
	for (const id of [large.id, first.json<{ id: string }>().id]) {
		const { details } = isEnvelope(t, await copy(id), 429, 'RATE_LIMIT_EXCEEDED')
		t.true(details.retryAfter > 3000 && details.retryAfter <= 3600, `${details.retryAfter}`)
	}
	t.is((await pool.query('select from automations')).rowCount, before.rowCount)
	t.is((await copy(small.id)).statusCode, 201)
	await pool.query(`update throttles set tries = array_fill(now() - interval '1 hour', array[120])`)
	t.is((await copy(large.id)).statusCode, 201)
})
