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
