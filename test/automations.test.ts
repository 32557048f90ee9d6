import test from 'ava'
import { randomUUID } from 'node:crypto'
import { chores } from '../db/housekeeping.ts'
import { createProject } from './helpers/app.ts'
import { fault, openAutomations } from './helpers/automations.ts'

test('a workflow is created disabled, with an EVENT trigger and the one step for it', async (t) => {
	const { call, project } = await openAutomations(t)
	const answer = await call('POST', '', { name: 'Onboarding', eventName: ' signup ' })
	t.is(answer.statusCode, 201)
	const created = answer.json()
	t.like(created, {
		projectId: project.id,
		name: 'Onboarding',
		description: null,
		enabled: false,
		triggerType: 'EVENT',
		triggerConfig: { eventName: 'signup' },
		allowReentry: false,
		version: null,
	})
	const read = (await call('GET', `/${created.id}`)).json()
	t.like(read, created)
	t.is(read.steps.length, 1)
	t.like(read.steps[0], {
		workflowId: created.id,
		type: 'TRIGGER',
		config: {},
		templateId: null,
		template: null,
		position: { x: 0, y: 0 },
		outgoingTransitions: [],
		incomingTransitions: [],
	})
	t.deepEqual(read.transitions, [])
})

test('the event may be named in triggerConfig, and must be named', async (t) => {
	const { call } = await openAutomations(t)
	const nested = { name: 'A', triggerConfig: { eventName: 'contact.subscribed' } }
	t.deepEqual((await call('POST', '', nested)).json().triggerConfig, nested.triggerConfig)
	const cases: [object, string][] = [
		[{ name: 'A' }, 'eventName required'],
		[{ name: 'A', eventName: ' ' }, 'eventName too_small'],
		[{ name: 'A', eventName: 'x'.repeat(256) }, 'eventName too_big'],
		[{ eventName: 'a' }, 'name required'],
		[{ name: '', eventName: 'a' }, 'name too_small'],
		[{ name: 'x'.repeat(101), eventName: 'a' }, 'name too_big'],
		[{ name: 'A', eventName: 'a', description: 'x'.repeat(501) }, 'description too_big'],
		[{ name: 'A', eventName: 'a', allowReentry: 'yes' }, 'allowReentry invalid_type'],
		[
			{ name: 'A', eventName: 'a', triggerConfig: { event: 'a' } },
			'triggerConfig.event unrecognized_keys',
		],
	]
	for (const [body, expected] of cases) {
		const answer = await call('POST', '', body)
		t.is(answer.statusCode, 422)
		t.is(fault(answer), expected)
	}
})

test('the event of a workflow is changed in triggerConfig, and refused elsewhere', async (t) => {
	const { call, create } = await openAutomations(t)
	const { id } = await create()
	t.is(fault(await call('PATCH', `/${id}`, { eventName: 'other' })), 'eventName unrecognized_keys')
	const triggerConfig = { eventName: 'other' }
	t.like((await call('PATCH', `/${id}`, { triggerConfig })).json(), { triggerConfig })
})

test('lists are paged, searched, filtered and sorted, and count steps', async (t) => {
	const { call, create } = await openAutomations(t)
	const names = ['Bravo', 'alpha_1', 'Charlie']
	for (const name of names) {
		const automation = await create({ name, description: `about ${name}` })
		await automation.step('EXIT')
		if (name === 'Bravo') t.is((await automation.enable()).statusCode, 200)
	}
	const list = async (query: string) => (await call('GET', query)).json()
	const found = async (query: string) =>
		(await list(query)).data.map(({ name }: { name: string }) => name)
	t.deepEqual(await found(''), names.toReversed())
	t.deepEqual(await found('?sort=createdAt&dir=asc'), names)
	t.deepEqual(await found('?sort=updatedAt&dir=desc&pageSize=1'), ['Charlie'])
	t.is((await found('?sort=name&dir=asc')).length, 3)
	t.deepEqual(await found('?search=ABOUT%20c'), ['Charlie'])
	t.deepEqual(await found('?search=a_1'), ['alpha_1'])
	t.deepEqual(await found('?status=active'), ['Bravo'])
	t.deepEqual(await found('?status=disabled&sort=createdAt&dir=asc'), ['alpha_1', 'Charlie'])
	t.like(await list('?page=2&pageSize=2'), { page: 2, pageSize: 2, total: 3, totalPages: 2 })
	t.is((await list('?pageSize=500')).pageSize, 100)
	t.deepEqual((await list('?status=active')).data[0]._count, { steps: 2, executions: 0, active: 0 })
	for (const query of ['?sort=id', '?status=on', '?dir=up', '?page=0', '?page=9999999999']) {
		const answer = await call('GET', query)
		t.is(answer.statusCode, 400, query)
		t.is(answer.json().error.code, 'BAD_REQUEST')
	}
})

test('a copy has everything but the ids, and is not enabled', async (t) => {
	const { call, create, open, template } = await openAutomations(t)
	const automation = await create({
		name: 'x'.repeat(100),
		description: 'text',
		allowReentry: true,
	})
	const mail = await automation.step('SEND_EMAIL', {}, { templateId: template.id })
	const condition = await automation.step('CONDITION', { field: 'data.a', operator: 'exists' })
	const exit = await automation.step('EXIT', { reason: 'done' })
	t.is((await automation.connect(condition.id, mail.id, { branch: 'no' })).statusCode, 201)
	await automation.step('DELAY', { amount: 1, unit: 'days' }, { autoConnect: false })
	const before = await automation.get()
	const answer = await call('POST', `/${automation.id}/duplicate`)
	t.is(answer.statusCode, 201)
	const copy = await open(answer.json().id).get()
	t.like(copy, {
		name: `${'x'.repeat(93)} (Copy)`,
		description: 'text',
		allowReentry: true,
		enabled: false,
		version: null,
		triggerConfig: { eventName: 'signup' },
	})
	const shape = ({ steps }: typeof before) =>
		steps.map(({ type, name, config, position, templateId }: (typeof before)['steps'][0]) => ({
			type,
			name,
			config,
			position,
			templateId,
		}))
	t.deepEqual(shape(copy), shape(before))
	t.deepEqual(await open(copy.id).ways(), await automation.ways())
	const ids = new Set(before.steps.map(({ id }: { id: string }) => id))
	t.true(ids.has(exit.id))
	t.false(copy.steps.some(({ id }: { id: string }) => ids.has(id)))
})

test('a workflow is deleted with all that belongs to it', async (t) => {
	const { call, create, pool } = await openAutomations(t)
	const automation = await create()
	await automation.step('EXIT')
	t.is((await automation.enable()).statusCode, 200)
	const gone = await call('DELETE', `/${automation.id}`)
	t.is(gone.statusCode, 204)
	t.is(gone.body, '')
	t.is((await call('GET', `/${automation.id}`)).statusCode, 404)
	t.is((await call('DELETE', `/${automation.id}`)).statusCode, 404)
	for (const table of ['steps', 'transitions', 'versions', 'event_names']) {
		const { rows } = await pool.query(`select from automation_${table}`)
		t.is(rows.length, 0, table)
	}
})

test('a workflow is deleted at once, and its executions after their runs are closed', async (t) => {
	const { app, call, create, pool, project, headers } = await openAutomations(t)
	const automation = await create()
	await automation.step('EXIT')
	t.is((await automation.enable()).statusCode, 200)
	const { rows } = await pool.query<{ id: string }>(
		`insert into executions (project_id, automation_id, version, allow_reentry, status, is_closing, due_at)
		select $1, $2, 1, false, 'FAILED', n = 2100, null from generate_series(1, 2100) n returning id`,
		[project.id, automation.id],
	)
	await pool.query(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status)
		select project_id, id, 1, id, 'TRIGGER', 'COMPLETED' from executions`,
	)
	const other = await create()
	t.is((await call('DELETE', `/${automation.id}`)).statusCode, 204)
	const count = async (table: string) => (await pool.query(`select from ${table}`)).rowCount
	t.is(await count('executions'), 2100, 'nobody has waited for them')
	for (const path of ['', '/executions', `/executions/${rows[0]!.id}`])
		t.is((await call('GET', `/${automation.id}${path}`)).statusCode, 404, path)
	for (const path of [`/executions/${rows[0]!.id}/retry`, '/executions/cancel-all'])
		t.is((await call('POST', `/${automation.id}${path}`)).statusCode, 404, path)
	t.is((await pool.query(`select from executions where status <> 'FAILED'`)).rowCount, 0)

	const { remove } = chores.find(({ what }) => what === 'executions of deleted workflows')!
	const sweep = () => remove(pool, 2000, 30)
	t.deepEqual([await sweep(), await sweep(), await sweep()], [2000, 99, 0])
	t.deepEqual([await count('executions'), await count('execution_steps')], [1, 1])
	await pool.query('update executions set is_closing = false')
	t.deepEqual([await sweep(), await sweep()], [1, 0])
	t.is(await count('removed_automations'), 0)
	t.is((await app.inject({ url: `/workflows/${other.id}`, headers })).statusCode, 200)
})

test("another project's workflow, step, transition and version are not there", async (t) => {
	const { app, orm, create, headers } = await openAutomations(t)
	const automation = await create()
	const exit = await automation.step('EXIT')
	t.is((await automation.enable()).statusCode, 200)
	const { transitions } = await automation.get()
	const { withSecretKey } = await createProject(orm)
	const way = { fromStepId: exit.id, toStepId: exit.id }
	const requests: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object?][] = [
		['GET', ''],
		['PATCH', '', { name: 'Mine' }],
		['DELETE', ''],
		['POST', '/duplicate'],
		['POST', '/steps', { type: 'EXIT', name: 'Mine' }],
		['PATCH', `/steps/${exit.id}`, { name: 'Mine' }],
		['DELETE', `/steps/${exit.id}`],
		['POST', '/transitions', way],
		['DELETE', `/transitions/${transitions[0].id}`],
		['GET', '/versions'],
		['GET', '/versions/1'],
		['POST', '/versions/1/restore'],
	]
	const before = await automation.get()
	for (const [method, path, body] of requests)
		for (const id of [automation.id, randomUUID(), 'nonsense']) {
			const answer = await app.inject({
				method,
				url: `/workflows/${id}${path}`,
				headers: withSecretKey,
				...(body ? { body } : {}),
			})
			t.is(answer.statusCode, 404, `${method} ${path}`)
			t.is(answer.json().error.code, 'WORKFLOW_NOT_FOUND')
			t.deepEqual(answer.json().error.details, { resource: 'workflow', id })
		}
	for (const path of [
		'/versions/2',
		'/versions/0',
		'/versions/x',
		'/versions/99999999999',
		'/versions/1e400',
	]) {
		const answer = await app.inject({ url: `/workflows/${automation.id}${path}`, headers })
		t.is(answer.statusCode, 404, path)
		t.is(answer.json().error.code, 'RESOURCE_NOT_FOUND')
	}
	t.deepEqual(await automation.get(), before)
})

test('a disabled project reads its workflows and changes none', async (t) => {
	const { call, create, pool } = await openAutomations(t)
	const automation = await create()
	const exit = await automation.step('EXIT')
	t.is((await automation.enable()).statusCode, 200)
	const before = await automation.get()
	await pool.query(`update projects set disabled_reason = 'MANUAL'`)
	const [way] = before.transitions
	const refused = [
		await call('POST', '', { name: 'A', eventName: 'a' }),
		await automation.change({ enabled: false }),
		await call('DELETE', `/${automation.id}`),
		await call('POST', `/${automation.id}/duplicate`),
		await automation.addStep({ type: 'EXIT', name: 'B' }),
		await automation.changeStep(exit.id, { name: 'B' }),
		await automation.deleteStep(exit.id),
		await automation.connect(exit.id, exit.id),
		await automation.disconnect(way.id),
		await call('POST', `/${automation.id}/versions/1/restore`),
	]
	for (const answer of refused) {
		t.is(answer.statusCode, 403)
		t.is(answer.json().error.code, 'PROJECT_DISABLED')
	}
	t.deepEqual(await automation.get(), before)
	t.is((await automation.versions()).length, 1)
})
