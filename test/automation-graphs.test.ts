import test from 'ava'
import { randomUUID } from 'node:crypto'
import { openAutomations } from './helpers/automations.ts'

const day = { amount: 1, unit: 'days' }

interface GivenStep {
	id: string
	type: string
	name: string
	config?: object
	templateId?: string | null
}

test('a graph replaces steps and transitions in one version, and steps keep their ids', async (t) => {
	const { create, ok, template } = await openAutomations(t)
	const automation = await create()
	const delay = await automation.step('DELAY', day, { name: 'Day' })
	const exit = await automation.step('EXIT', undefined, { name: 'End' })
	await automation.enable()
	const [trigger] = (await automation.get()).steps as GivenStep[]
	// Steps that are added together are in the order of their ids.
	const [wait, mail] = [
		'B47E9F5C-0000-4000-8000-000000000001',
		'b47e9f5c-0000-4000-8000-000000000002',
	]
	const graph = {
		steps: [
			{ id: trigger!.id, type: 'TRIGGER', name: 'Begin' },
			{ id: delay.id, type: 'DELAY', name: 'Two', config: { amount: 2, unit: 'days' } },
			{ id: wait, type: 'WAIT_FOR_EVENT', name: 'Order', config: { eventName: ' order ' } },
			{ id: mail, type: 'SEND_EMAIL', name: 'Mail', templateId: template.id },
		],
		transitions: [
			{ fromStepId: trigger!.id, toStepId: delay.id },
			{ fromStepId: delay.id, toStepId: wait },
			{ fromStepId: wait, toStepId: mail, branch: 'timeout' },
		],
		allowReentry: true,
		triggerConfig: { eventName: 'joined' },
	}
	const changed = await ok('PUT', `/${automation.id}/graph`, graph)
	t.like(changed, { version: 2, allowReentry: true, triggerConfig: { eventName: 'joined' } })
	t.deepEqual(await automation.ways(), ['Begin > Two', 'Order timeout > Mail', 'Two > Order'])
	const { steps } = await automation.get()
	t.deepEqual(
		(steps as GivenStep[]).map(({ id, config }) => ({ id, config })),
		[
			{ id: trigger!.id, config: {} },
			{ id: delay.id, config: { amount: 2, unit: 'days' } },
			{ id: wait.toLowerCase(), config: { eventName: 'order' } },
			{ id: mail, config: {} },
		],
	)
	t.false((steps as GivenStep[]).some(({ id }) => id === exit.id))
	await ok('PUT', `/${automation.id}/graph`, graph)
	t.is((await automation.versions()).length, 2)
})

test('a graph with faults is refused at its steps, and changes nothing', async (t) => {
	const { create, call } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', day)
	const before = await automation.get()
	const [trigger, delay] = before.steps as GivenStep[]
	const [mail, exit] = [randomUUID(), randomUUID()]
	const graph = {
		steps: [
			{ id: trigger!.id, type: 'TRIGGER', name: 'Trigger' },
			{ id: delay!.id, type: 'EXIT', name: 'Other type' },
			{ id: mail, type: 'SEND_EMAIL', name: 'Mail', templateId: randomUUID() },
			{ id: exit, type: 'DELAY', name: 'Long', config: { amount: 400, unit: 'days' } },
		],
		transitions: [
			{ fromStepId: trigger!.id, toStepId: mail },
			{ fromStepId: trigger!.id, toStepId: exit },
			{ fromStepId: delay!.id, toStepId: mail },
			{ fromStepId: mail, toStepId: trigger!.id },
			{ fromStepId: mail, toStepId: randomUUID() },
		],
	}
	const answer = await call('PUT', `/${automation.id}/graph`, graph)
	t.is(answer.statusCode, 422)
	t.deepEqual(
		(answer.json().error.errors as { field: string }[]).map(({ field }) => field).toSorted(),
		[
			`steps.${delay!.id}.type`,
			`steps.${exit}.config.amount`,
			`steps.${mail}.templateId`,
			'transitions.1.branch',
			'transitions.2.fromStepId',
			'transitions.3.toStepId',
			'transitions.4.toStepId',
		].toSorted(),
	)
	t.deepEqual(await automation.get(), before)
})

test('a graph that is not stored is checked as enabling would check it', async (t) => {
	const { create, ok } = await openAutomations(t)
	const automation = await create()
	const before = await automation.get()
	const [trigger] = before.steps as GivenStep[]
	const [mail, alone] = [randomUUID(), randomUUID()]
	const check = await ok('POST', `/${automation.id}/graph/validate`, {
		steps: [
			{ id: trigger!.id, type: 'TRIGGER', name: 'Trigger' },
			{ id: mail, type: 'SEND_EMAIL', name: 'Mail' },
			{ id: alone, type: 'DELAY', name: 'Alone', config: { amount: 0, unit: 'days' } },
		],
		transitions: [{ fromStepId: trigger!.id, toStepId: mail }],
		triggerConfig: { eventName: '' },
	})
	t.false(check.isValid)
	t.deepEqual(
		(check.errors as { stepId: string; field: string }[]).map(({ stepId, field }) => [
			stepId,
			field,
		]),
		[
			[null, 'triggerConfig.eventName'],
			[alone, 'config.amount'],
			[mail, 'templateId'],
		],
	)
	t.deepEqual(
		(check.warnings as { stepId: string }[]).map(({ stepId }) => stepId),
		[alone],
	)
	t.deepEqual(await automation.get(), before)
})

test('of two editors of a graph, the second is told that it has changed', async (t) => {
	const { app, headers, create } = await openAutomations(t)
	const automation = await create()
	const { updatedAt, steps } = await automation.get()
	const put = () =>
		app.inject({
			method: 'PUT',
			url: `/workflows/${automation.id}/graph`,
			headers: { ...headers, 'if-match': `"${updatedAt}"` },
			payload: {
				steps: steps.map(({ id, type, name }: GivenStep) => ({ id, type, name })),
				transitions: [],
			},
		})
	t.is((await put()).statusCode, 200)
	const refused = await put()
	t.is(refused.statusCode, 409)
	t.is(refused.json().error.message, 'This workflow has changed since it was read')
})

test('versions and the list say how many executions are active', async (t) => {
	const { create, ok, app, headers } = await openAutomations(t)
	const automation = await create()
	const delay = await automation.step('DELAY', day)
	await automation.enable()
	const start = async (email: string) => {
		const contact = await app.inject({
			method: 'POST',
			url: '/contacts',
			headers,
			payload: { email },
		})
		return ok('POST', `/${automation.id}/executions`, { contactId: contact.json().id })
	}
	const first = await start('ann@example.org')
	await start('ben@example.org')
	await automation.changeStep(delay.id, { config: { amount: 2, unit: 'days' } })
	await start('carl@example.org')
	await ok('DELETE', `/${automation.id}/executions/${first.id}`)
	t.deepEqual(
		(await automation.versions()).map(
			({ version, activeExecutions }: { version: number; activeExecutions: number }) => [
				version,
				activeExecutions,
			],
		),
		[
			[2, 1],
			[1, 1],
		],
	)
	const { data } = await ok('GET', '')
	t.deepEqual(data[0]._count, { steps: 2, executions: 3, active: 2 })
})

test('a condition with a malformed configuration is reported, and its ways are not', async (t) => {
	const { create, ok } = await openAutomations(t)
	const automation = await create()
	const [trigger] = (await automation.get()).steps as GivenStep[]
	const condition = { id: randomUUID(), type: 'CONDITION', name: 'Plan' }
	const exit = { id: randomUUID(), type: 'EXIT', name: 'End' }
	const steps = (config: object) => [trigger!, { ...condition, config }, exit]
	const ways = Array.from({ length: 999 }, (_, n) => ({
		fromStepId: condition.id,
		toStepId: exit.id,
		branch: `way ${n}`,
	}))
	const transitions = [{ fromStepId: trigger!.id, toStepId: condition.id }, ...ways]
	for (const branches of [5, [null], [{ id: 'x'.repeat(500_000) }]]) {
		const graph = {
			steps: steps({ mode: 'multi', field: 'data.plan', branches }),
			transitions,
		}
		const { isValid, errors } = await ok('POST', `/${automation.id}/graph/validate`, graph)
		t.false(isValid)
		t.true((errors as object[]).length < 10)
		t.true(JSON.stringify(errors).length < 10_000)
	}
})
