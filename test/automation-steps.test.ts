import test from 'ava'
import { randomUUID } from 'node:crypto'
import { Template } from '../db/templates/template.ts'
import { createProject } from './helpers/app.ts'
import { fault, flat, multi, openAutomations } from './helpers/automations.ts'

test('faults of a step beside its configuration are refused by field', async (t) => {
	const { create, template } = await openAutomations(t)
	const automation = await create()
	const cases: [object, string][] = [
		[{ type: 'SMS' }, 'type invalid_enum_value'],
		[{ type: undefined }, 'type required'],
		[{ name: undefined }, 'name required'],
		[{ name: '' }, 'name too_small'],
		[{ name: 'x'.repeat(101) }, 'name too_big'],
		[{ position: { x: 1 } }, 'position.y required'],
		[{ position: { x: '1', y: 1 } }, 'position.x invalid_type'],
		[{ config: [] }, 'config invalid_type'],
		[{ autoConnect: 'no' }, 'autoConnect invalid_type'],
		[{ templateId: 'welcome' }, 'templateId invalid_string'],
		[{ templateId: template.id }, 'templateId custom'],
	]
	for (const [changes, expected] of cases) {
		const answer = await automation.addStep({ type: 'EXIT', name: 'Step', ...changes })
		t.is(answer.statusCode, 422, expected)
		t.is(fault(answer), expected)
	}
	t.is((await automation.get()).steps.length, 1)
})

test('a template is named on the step or in its configuration, and belongs to the project', async (t) => {
	const { create, orm, template } = await openAutomations(t)
	const automation = await create()
	const { project } = await createProject(orm)
	const em = orm.em.fork()
	const { id: _, createdAt: _c, updatedAt: _u, ...columns } = template
	const foreign = em.create(Template, { ...columns, projectId: project.id })
	await em.flush()
	const templateId = template.id
	const onStep = await automation.step('SEND_EMAIL', {}, { templateId })
	const inConfig = await automation.step('SEND_EMAIL', { templateId })
	for (const step of [onStep, inConfig]) t.like(step, { templateId, config: {} })
	t.deepEqual((await automation.get()).steps[1].template, { id: templateId, name: 'Welcome' })
	const both = await automation.addStep({
		type: 'SEND_EMAIL',
		name: 'Both',
		templateId,
		config: { templateId: foreign.id },
	})
	t.is(fault(both), 'config.templateId custom')
	for (const id of [foreign.id, randomUUID()]) {
		const requests = [
			automation.addStep({ type: 'SEND_EMAIL', name: 'Mail', templateId: id }),
			automation.addStep({ type: 'SEND_EMAIL', name: 'Mail', config: { templateId: id } }),
			automation.changeStep(onStep.id, { templateId: id }),
		]
		for (const answer of await Promise.all(requests)) {
			t.is(answer.statusCode, 404)
			t.is(answer.json().error.code, 'TEMPLATE_NOT_FOUND')
		}
	}
	const kept = await automation.changeStep(onStep.id, { config: {}, name: 'Hello' })
	t.like(kept.json(), { templateId, name: 'Hello' })
	t.is((await automation.changeStep(onStep.id, { templateId: null })).json().templateId, null)
})

test('an unknown member of a position changes nothing of a step, whatever column has its name', async (t) => {
	const { call, create, orm } = await openAutomations(t)
	const automation = await create()
	const step = await automation.step('DELAY', { amount: 1, unit: 'days' })
	const { project } = await createProject(orm)
	const foreign = {
		projectId: project.id,
		automationId: randomUUID(),
		type: 'TRIGGER',
		name: 'x'.repeat(5000),
		config: { amount: 'soon', unit: 'weeks' },
		createdAt: '2000-01-01T00:00:00.000Z',
		z: 1,
	}
	const body = { position: { x: 1, y: 2, ...foreign } }
	const { updatedAt: _, ...expected } = { ...step, position: { x: 1, y: 2 } }
	const changed = await automation.changeStep(step.id, body)
	t.is(changed.statusCode, 200, changed.body)
	t.like(changed.json(), expected)
	const added = await call('POST', `/${automation.id}/steps`, {
		type: 'EXIT',
		name: 'End',
		...body,
	})
	t.like(added.json(), { type: 'EXIT', name: 'End', position: { x: 1, y: 2 } })
	t.is((await automation.get()).steps.length, 3)
})

test('a change of a step keeps the members that are not given', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const config = { amount: 1, unit: 'days' }
	const step = await automation.step('DELAY', config, { position: { x: 5, y: -7.5 } })
	t.deepEqual(step.position, { x: 5, y: -7.5 })
	const change = async (body: object) => (await automation.changeStep(step.id, body)).json()
	t.like(await change({ name: 'A day', type: 'EXIT' }), { name: 'A day', type: 'DELAY', config })
	t.like(await change({ position: { x: 0, y: 1 } }), {
		name: 'A day',
		position: { x: 0, y: 1 },
		config,
	})
	t.like(await change({ config: { amount: 2, unit: 'hours' } }), {
		position: { x: 0, y: 1 },
		config: { amount: 2, unit: 'hours' },
	})
	const [trigger] = (await automation.get()).steps
	t.is((await automation.changeStep(trigger.id, { name: 'Signup' })).json().name, 'Signup')
	t.is(
		fault(await automation.changeStep(trigger.id, { config: { eventName: 'a' } })),
		'config.eventName unrecognized_keys',
	)
})

test('the TRIGGER is neither added nor deleted', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const [trigger] = (await automation.get()).steps
	const answers = [
		await automation.addStep({ type: 'TRIGGER', name: 'Second' }),
		await automation.deleteStep(trigger.id),
		await automation.deleteStep(trigger.id, '?splice=true'),
	]
	for (const answer of answers) t.is(answer.statusCode, 400)
	t.is((await automation.get()).steps.length, 1)
})

test('a new step is led to by the newest step that leads nowhere, by its first branch', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	await automation.step('WAIT_FOR_EVENT', { eventName: 'a' })
	await automation.step('CONDITION', flat)
	await automation.step('CONDITION', multi, { name: 'Multi' })
	await automation.step('DELAY', { amount: 1, unit: 'days' })
	await automation.step('EXIT')
	// An EXIT step can’t have a next step, and everything before it leads on.
	await automation.step('WEBHOOK')
	await automation.step('UPDATE_CONTACT', {}, { autoConnect: false })
	t.deepEqual(await automation.ways(), [
		'CONDITION yes > Multi',
		'DELAY > EXIT',
		'Multi a > DELAY',
		'Trigger > WAIT_FOR_EVENT',
		'WAIT_FOR_EVENT event > CONDITION',
	])
})

test('of several steps that lead nowhere the newest is taken', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const day = { amount: 1, unit: 'days' }
	for (const name of ['Old', 'New'])
		await automation.step('DELAY', day, { name, autoConnect: false })
	await automation.step('EXIT')
	t.deepEqual(await automation.ways(), ['New > EXIT'])
})

test('a deleted step takes its transitions with it, or leaves them to its one target', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const condition = await automation.step('CONDITION', flat)
	const delay = await automation.step('DELAY', { amount: 1, unit: 'days' })
	const exit = await automation.step('EXIT')
	t.is((await automation.connect(condition.id, delay.id, { branch: 'no' })).statusCode, 201)
	const refused = await automation.deleteStep(condition.id, '?splice=true')
	t.is(refused.statusCode, 400)
	t.is((await automation.deleteStep(delay.id.toUpperCase(), '?splice=true')).statusCode, 204)
	t.deepEqual(await automation.ways(), [
		'CONDITION no > EXIT',
		'CONDITION yes > EXIT',
		'Trigger > CONDITION',
	])
	t.is((await automation.deleteStep(exit.id, '?splice=true')).statusCode, 204)
	t.deepEqual(await automation.ways(), ['Trigger > CONDITION'])
	t.is((await automation.deleteStep(condition.id)).statusCode, 204)
	t.deepEqual(await automation.ways(), [])
	const gone = await automation.deleteStep(condition.id)
	t.is(gone.statusCode, 404)
	t.is(gone.json().error.code, 'RESOURCE_NOT_FOUND')
	t.is((await automation.deleteStep('nonsense')).statusCode, 404)
})

test('a step that is in a circle with its target is cut out without leading to itself', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const wait = await automation.step('WAIT_FOR_EVENT', { eventName: 'a' })
	const delay = await automation.step('DELAY', { amount: 1, unit: 'days' })
	t.is((await automation.connect(delay.id, wait.id)).statusCode, 201)
	t.is((await automation.deleteStep(delay.id, '?splice=true')).statusCode, 204)
	t.deepEqual(await automation.ways(), ['Trigger > WAIT_FOR_EVENT'])
})

test('a workflow has at most five hundred steps', async (t) => {
	const { create, pool, project } = await openAutomations(t)
	const automation = await create()
	await pool.query(
		`insert into automation_steps (project_id, automation_id, type, name)
		select $1, $2, 'EXIT', 'End' from generate_series(1, 499)`,
		[project.id, automation.id],
	)
	const answer = await automation.addStep({ type: 'EXIT', name: 'One more' })
	t.is(answer.statusCode, 422)
	t.is(fault(answer), 'steps too_big')
})

test('the steps of a workflow have at most a megabyte of configuration in total', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	// Three bytes each: sixteen of these are a little less than a megabyte.
	const update = (length: number) => ({ data: { text: '✓'.repeat(length) } })
	const add = (length: number) =>
		automation.addStep({ type: 'UPDATE_CONTACT', name: 'Update', config: update(length) })
	const [first] = await Promise.all(Array.from({ length: 16 }, () => add(21_800)))
	t.is(fault(await add(1000)), 'config too_big')
	t.is((await automation.get()).steps.length, 17)
	const { id } = (await add(10)).json()
	t.is(fault(await automation.changeStep(id, { config: update(1000) })), 'config too_big')
	t.deepEqual((await automation.get()).steps.at(-1).config, update(10))
	// This also applies to a workflow that is too large already.
	t.is((await automation.changeStep(first!.json().id, { config: {} })).statusCode, 200)
	t.is((await automation.changeStep(id, { config: update(1000) })).statusCode, 200)
})

test('a workflow that is larger than it may be can be made smaller', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	const step = await automation.step('UPDATE_CONTACT', { data: { text: 'x'.repeat(2000) } })
	const exit = await automation.step('EXIT')
	await pool.query(
		`insert into automation_steps (project_id, automation_id, type, name, config)
		select project_id, automation_id, type, name, config
		from automation_steps, generate_series(1, 800) where id = $1`,
		[step.id],
	)
	t.is(fault(await automation.addStep({ type: 'EXIT', name: 'More' })), 'steps too_big')
	const longer = await automation.changeStep(step.id, {
		config: { data: { text: 'x'.repeat(3000) } },
	})
	t.is(fault(longer), 'steps too_big')
	const shorter = await automation.changeStep(step.id, { config: { data: { text: 'x' } } })
	t.is(shorter.statusCode, 200)
	t.is((await automation.changeStep(exit.id, { name: 'Over' })).statusCode, 200)
	t.is((await automation.deleteStep(exit.id)).statusCode, 204)
})
