import test from 'ava'
import { randomUUID } from 'node:crypto'
import { fault, openAutomations } from './helpers/automations.ts'

test('name, description, trigger and re-entry change one by one', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const change = async (body: object) => {
		const answer = await automation.change(body)
		t.is(answer.statusCode, 200, answer.body)
		return answer.json()
	}
	const before = await automation.get()
	const changed = await change({ name: 'New', description: 'text', allowReentry: true })
	t.like(changed, { name: 'New', description: 'text', allowReentry: true, warnings: [] })
	t.true(changed.updatedAt > before.updatedAt)
	t.like(await change({ description: null }), { name: 'New', description: null })
	t.like(await change({ triggerConfig: { eventName: 'order' } }), {
		triggerType: 'EVENT',
		triggerConfig: { eventName: 'order' },
	})
	t.like(await change({ triggerType: 'MANUAL' }), { triggerType: 'MANUAL', triggerConfig: null })
	const schedule = { schedule: '0 9 * * MON-FRI', timezone: 'Europe/Berlin' }
	t.like(await change({ triggerType: 'SCHEDULE', triggerConfig: schedule }), {
		triggerType: 'SCHEDULE',
		triggerConfig: schedule,
	})
	t.like(await change({ triggerConfig: { schedule: '@daily' } }), {
		triggerConfig: { schedule: '@daily', timezone: 'UTC' },
	})
	t.is(fault(await automation.change({ triggerType: 'EVENT' })), 'triggerConfig.eventName required')
	t.like(
		await change({ triggerType: 'EVENT', triggerConfig: { eventName: 'a', schedule: null } }),
		{
			triggerConfig: { eventName: 'a' },
		},
	)
})

test('a trigger is refused for each thing that is wrong with it, and stays as it was', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const before = await automation.get()
	const scheduled = (config: object) => ({ triggerType: 'SCHEDULE', triggerConfig: config })
	const cases: [object, string][] = [
		[{ triggerType: 'CRON' }, 'triggerType invalid_enum_value'],
		[{ triggerConfig: null }, 'triggerConfig.eventName required'],
		[{ triggerConfig: 'signup' }, 'triggerConfig invalid_type'],
		[{ triggerConfig: { eventName: 5 } }, 'triggerConfig.eventName invalid_type'],
		[{ triggerConfig: { eventName: '\n' } }, 'triggerConfig.eventName invalid_string'],
		[{ triggerConfig: { eventName: ' ' } }, 'triggerConfig.eventName too_small'],
		[
			{ triggerConfig: { eventName: 'a', segmentId: 'b' } },
			'triggerConfig.segmentId unrecognized_keys',
		],
		[
			{ triggerType: 'MANUAL', triggerConfig: { eventName: 'a' } },
			'triggerConfig.eventName unrecognized_keys',
		],
		[scheduled({}), 'triggerConfig.schedule required'],
		[scheduled({ schedule: 'daily' }), 'triggerConfig.schedule invalid_string'],
		[scheduled({ schedule: '0 0 30 2 *' }), 'triggerConfig.schedule invalid_string'],
		[scheduled({ schedule: '@daily', timezone: 'Mars' }), 'triggerConfig.timezone invalid_string'],
		[
			scheduled({ schedule: '@daily', timezone: '+02:00' }),
			'triggerConfig.timezone invalid_string',
		],
		[scheduled({ schedule: '@daily', segmentId: 'x' }), 'triggerConfig.segmentId invalid_string'],
		[scheduled({ schedule: '@daily', segment: 'x' }), 'triggerConfig.segment unrecognized_keys'],
	]
	for (const [body, expected] of cases) {
		const answer = await automation.change(body)
		t.is(answer.statusCode, 422, expected)
		t.is(fault(answer), expected)
	}
	const unknown = await automation.change(
		scheduled({ schedule: '@daily', segmentId: randomUUID() }),
	)
	t.is(unknown.statusCode, 404)
	t.is(unknown.json().error.code, 'RESOURCE_NOT_FOUND')
	t.deepEqual(await automation.get(), before)
})

test('time zones are kept as IANA spells them', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	for (const [given, kept] of [
		['europe/berlin', 'Europe/Berlin'],
		['Asia/Kolkata', 'Asia/Kolkata'],
		['europe/KYIV', 'Europe/Kyiv'],
		['utc', 'UTC'],
	]) {
		const triggerConfig = { schedule: '@daily', timezone: given }
		const answer = await automation.change({ triggerType: 'SCHEDULE', triggerConfig })
		t.is(answer.json().triggerConfig?.timezone, kept, answer.body)
	}
})

test('a workflow is scheduled since the last change of its schedule, not of its name or steps', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', { amount: 1, unit: 'hours' })
	const isMoved = async (body: object) => {
		await pool.query(`update automations set scheduled_since = '2026-01-01'`)
		const answer = await automation.change(body)
		t.is(answer.statusCode, 200, answer.body)
		const { rows } = await pool.query(
			`select scheduled_since > '2026-01-01' as "isMoved" from automations`,
		)
		return rows[0].isMoved
	}
	const daily = { triggerType: 'SCHEDULE', triggerConfig: { schedule: '0 9 * * *' } }
	t.true(await isMoved(daily))
	t.false(await isMoved({ ...daily, name: 'New', allowReentry: true }))
	t.true(await isMoved({ enabled: true }))
	t.true(await isMoved({ triggerConfig: { schedule: '0 9 * * *', timezone: 'Europe/Berlin' } }))
	t.true(await isMoved({ enabled: false }))
})
