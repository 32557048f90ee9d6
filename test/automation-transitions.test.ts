import test from 'ava'
import { randomUUID } from 'node:crypto'
import { fault, flat, multi, openAutomations } from './helpers/automations.ts'

async function openSteps(t: Parameters<typeof openAutomations>[0]) {
	const { create, call, pool } = await openAutomations(t)
	const automation = await create()
	const add = async (type: string, config?: object) =>
		(await automation.step(type, config, { autoConnect: false })).id as string
	const ids = {
		trigger: (await automation.get()).steps[0].id as string,
		delay: await add('DELAY', { amount: 1, unit: 'days' }),
		wait: await add('WAIT_FOR_EVENT', { eventName: 'order' }),
		flat: await add('CONDITION', flat),
		multi: await add('CONDITION', multi),
		empty: await add('CONDITION'),
		exit: await add('EXIT'),
		end: await add('EXIT'),
	}
	return { automation, create, call, pool, ids }
}

test('each kind of step leads on by its branches, given on the transition or in its condition', async (t) => {
	const { automation, ids } = await openSteps(t)
	const cases: [keyof typeof ids, object, string | null][] = [
		['trigger', {}, null],
		['delay', { branch: null }, null],
		['wait', {}, 'event'],
		['wait', { branch: 'timeout' }, 'timeout'],
		['flat', { branch: 'yes' }, 'yes'],
		['flat', { condition: { branch: 'no' } }, 'no'],
		['multi', { branch: 'a' }, 'a'],
		['multi', { branch: 'b', priority: 2 }, 'b'],
		['multi', { branch: 'default' }, 'default'],
		['empty', { branch: 'yes' }, 'yes'],
	]
	for (const [from, rest, branch] of cases) {
		const answer = await automation.connect(ids[from], ids.exit, rest)
		t.is(answer.statusCode, 201, answer.body)
		t.like(answer.json(), {
			fromStepId: ids[from],
			toStepId: ids.exit,
			branch,
			condition: branch === null ? null : { branch },
			priority: 'priority' in rest ? 2 : 0,
		})
		const again = await automation.connect(ids[from], ids.end, rest)
		t.is(again.statusCode, 400, `${from} ${branch}`)
		t.is(again.json().error.code, 'BAD_REQUEST')
	}
	t.is((await automation.get()).transitions.length, cases.length)
})

test('branches that a step does not have are refused', async (t) => {
	const { automation, ids } = await openSteps(t)
	const cases: [keyof typeof ids, object, string][] = [
		['flat', {}, 'branch required'],
		['multi', {}, 'branch required'],
		['flat', { branch: 'maybe' }, 'branch invalid_enum_value'],
		['flat', { branch: 'default' }, 'branch invalid_enum_value'],
		['multi', { branch: 'yes' }, 'branch invalid_enum_value'],
		['wait', { branch: 'yes' }, 'branch invalid_enum_value'],
		['delay', { branch: 'yes' }, 'branch custom'],
		['trigger', { condition: { branch: 'yes' } }, 'branch custom'],
		['flat', { branch: '' }, 'branch too_small'],
		['flat', { branch: 5 }, 'branch invalid_type'],
		['delay', { priority: 1.5 }, 'priority invalid_type'],
		['delay', { priority: 2 ** 31 }, 'priority too_big'],
	]
	for (const [from, rest, expected] of cases) {
		const answer = await automation.connect(ids[from], ids.exit, rest)
		t.is(answer.statusCode, 422, answer.body)
		t.is(fault(answer), expected)
	}
	t.is((await automation.get()).transitions.length, 0)
})

test('a transition joins two different steps, not from an EXIT and not to the TRIGGER', async (t) => {
	const { automation, ids } = await openSteps(t)
	for (const [from, to] of [
		[ids.delay, ids.delay],
		[ids.exit, ids.delay],
		[ids.delay, ids.trigger],
		[ids.flat, ids.flat],
	]) {
		const answer = await automation.connect(from!, to!)
		t.is(answer.statusCode, 400, answer.body)
		t.is(answer.json().error.code, 'BAD_REQUEST')
	}
	t.is((await automation.get()).transitions.length, 0)
})

test('both ends are steps of this workflow', async (t) => {
	const { automation, create, ids } = await openSteps(t)
	const other = await (await create()).step('EXIT')
	for (const id of [other.id, randomUUID()])
		for (const [from, to] of [
			[ids.delay, id],
			[id, ids.delay],
		]) {
			const answer = await automation.connect(from, to)
			t.is(answer.statusCode, 404)
			t.deepEqual(answer.json().error.details, { resource: 'step', id })
		}
	t.is((await automation.connect('nonsense', ids.delay)).statusCode, 422)
})

test('a transition is deleted once', async (t) => {
	const { automation, ids } = await openSteps(t)
	const { id } = (await automation.connect(ids.delay, ids.exit)).json()
	const gone = await automation.disconnect(id)
	t.is(gone.statusCode, 204)
	t.is(gone.body, '')
	for (const unknown of [id, randomUUID(), 'nonsense']) {
		const answer = await automation.disconnect(unknown)
		t.is(answer.statusCode, 404)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	t.deepEqual((await automation.get()).transitions, [])
})

test('two simultaneous transitions for the same branch create one', async (t) => {
	const { automation, ids } = await openSteps(t)
	const answers = await Promise.all(
		Array.from({ length: 8 }, (_, index) =>
			automation.connect(ids.flat, index % 2 ? ids.exit : ids.end, { branch: 'yes' }),
		),
	)
	const statuses = answers.map(({ statusCode }) => String(statusCode)).toSorted()
	t.deepEqual(statuses, ['201', ...Array<string>(7).fill('400')])
	t.is((await automation.get()).transitions.length, 1)
})

test('a workflow has at most a thousand transitions, even after branches were replaced', async (t) => {
	const { automation, pool, ids } = await openSteps(t)
	// The state after the branches of a condition got new ids many times.
	await pool.query(
		`insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id, branch)
		select project_id, automation_id, id, $2, 'old ' || n
		from automation_steps, generate_series(1, 999) n where id = $1`,
		[ids.flat, ids.exit],
	)
	t.is((await automation.connect(ids.delay, ids.exit)).statusCode, 201)
	t.is(fault(await automation.connect(ids.flat, ids.end, { branch: 'yes' })), 'transitions too_big')
	const step = { type: 'EXIT', name: 'More' }
	t.is((await automation.addStep({ ...step, autoConnect: false })).statusCode, 201)
	t.is(fault(await automation.addStep(step)), 'transitions too_big')
	t.is((await automation.get()).transitions.length, 1000)
})
