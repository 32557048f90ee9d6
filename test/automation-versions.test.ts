import test from 'ava'
import { fault, flat, multi, openAutomations } from './helpers/automations.ts'

const day = { amount: 1, unit: 'days' }

test('enabling checks the whole graph, and errors name the step', async (t) => {
	const { create, template } = await openAutomations(t)
	const automation = await create()
	const refused = async (...expected: [stepId: string, field: string, code: string][]) => {
		const answer = await automation.enable()
		t.is(answer.statusCode, 422, answer.body)
		const { errors } = answer.json().error
		t.deepEqual(
			errors.map((error: { field: string; code: string }) => [error.field, error.code]),
			expected.map(([id, member, code]) => [['steps', id, member].filter(Boolean).join('.'), code]),
		)
		const { steps } = await automation.get()
		for (const [index, [id]] of expected.entries()) {
			const { name } = steps.find((step: { id: string }) => step.id === id)
			t.true(errors[index].message.includes(`"${name}"`), errors[index].message)
		}
		t.like(await automation.get(), { enabled: false, version: null })
	}
	const [trigger] = (await automation.get()).steps
	await refused([trigger.id, '', 'custom'])

	const mail = await automation.step('SEND_EMAIL', {}, { name: 'Welcome mail' })
	await refused([mail.id, 'templateId', 'required'])
	t.is((await automation.changeStep(mail.id, { templateId: template.id })).statusCode, 200)

	const bare = []
	for (const type of ['DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK'])
		bare.push(await automation.step(type, undefined, { name: `Bare ${type}` }))
	await refused(...bare.map(({ id }): [string, string, string] => [id, 'config', 'required']))
	for (const { id } of bare) await automation.deleteStep(id, '?splice=true')

	const condition = await automation.step('CONDITION', multi, { name: 'Which' })
	const exit = await automation.step('EXIT')
	await automation.changeStep(condition.id, { config: flat })
	await refused([condition.id, '', 'custom'])
	await automation.changeStep(condition.id, { config: multi })
	t.is((await automation.enable()).statusCode, 200)
	t.is((await automation.get()).steps.at(-1).id, exit.id)
})

test('a circle is refused unless a DELAY or WAIT_FOR_EVENT is in it', async (t) => {
	const { create } = await openAutomations(t)
	for (const [type, config] of [
		['DELAY', day],
		['WAIT_FOR_EVENT', { eventName: 'order' }],
	] as const) {
		const automation = await create()
		const first = await automation.step('UPDATE_CONTACT', {}, { name: 'First' })
		const second = await automation.step('CONDITION', flat, { name: 'Second' })
		t.is((await automation.connect(second.id, first.id, { branch: 'no' })).statusCode, 201)
		const refused = await automation.enable()
		t.is(refused.statusCode, 422)
		const [error] = refused.json().error.errors
		t.is(error.field, `steps.${first.id}`)
		t.true(error.message.includes('"First" → "Second" → "First"'), error.message)
		const { transitions } = await automation.get()
		const back = transitions.find(({ branch }: { branch: string }) => branch === 'no')
		await automation.disconnect(back.id)
		const pause = await automation.step(type, config, { autoConnect: false })
		await automation.connect(second.id, pause.id, { branch: 'no' })
		await automation.connect(pause.id, first.id)
		t.is((await automation.enable()).statusCode, 200)
	}
})

test('steps that nothing leads to are warnings', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	await automation.step('EXIT')
	const island = await automation.step('DELAY', day, { name: 'Island', autoConnect: false })
	const beach = await automation.step('EXIT', {}, { name: 'Beach' })
	const answer = await automation.enable()
	t.is(answer.statusCode, 200)
	const { warnings } = answer.json()
	t.deepEqual(
		warnings.map(({ stepId }: { stepId: string }) => stepId),
		[island.id, beach.id],
	)
	for (const { name, message } of warnings) t.true(message.includes(name))
	t.deepEqual((await automation.change({ enabled: false })).json().warnings, [])
})

test('enabling freezes a version with everything written out', async (t) => {
	const { call, create, template } = await openAutomations(t)
	const automation = await create({ allowReentry: true })
	const steps = [
		await automation.step('SEND_EMAIL', {}, { templateId: template.id }),
		await automation.step('DELAY', day),
		await automation.step('WAIT_FOR_EVENT', { eventName: 'order' }),
		await automation.step('CONDITION', flat),
		await automation.step('WEBHOOK', { url: 'https://example.org' }),
		await automation.step('UPDATE_CONTACT', { updates: { plan: 'pro' } }),
		await automation.step('EXIT'),
	]
	const enabled = await automation.enable()
	t.like(enabled.json(), { enabled: true, version: 1, warnings: [] })
	const [trigger] = (await automation.get()).steps
	const frozen = (await call('GET', `/${automation.id}/versions/1`)).json()
	t.deepEqual(await automation.versions(), [
		{ version: 1, createdAt: frozen.createdAt, hash: frozen.hash, activeExecutions: 0 },
	])
	t.regex(frozen.hash, /^[0-9a-f]{64}$/)
	const configs: object[] = [
		{ recipient: { type: 'CONTACT' } },
		day,
		{ eventName: 'order', timeout: null, since: 'step' },
		flat,
		{
			url: 'https://example.org',
			method: 'POST',
			headers: {},
			body: null,
			retryFor: 3600,
			continueOnError: false,
		},
		{ data: { plan: 'pro' }, subscribed: null },
		{ reason: null },
	]
	const ways = [trigger, ...steps].slice(0, -1).map(({ id, type }, index) => ({
		fromStepId: id,
		toStepId: steps[index].id,
		branch: type === 'WAIT_FOR_EVENT' ? 'event' : type === 'CONDITION' ? 'yes' : null,
		priority: 0,
	}))
	t.deepEqual(frozen.definition, {
		trigger: { type: 'EVENT', eventName: 'signup' },
		allowReentry: true,
		steps: [
			{ id: trigger.id, type: 'TRIGGER', name: 'Trigger', config: {}, templateId: null },
			...steps.map(({ id, type, name, templateId }, index) => ({
				id,
				type,
				name,
				config: configs[index],
				templateId,
			})),
		],
		transitions: ways.toSorted((a, b) => (a.fromStepId < b.fromStepId ? -1 : 1)),
	})
})

test('each effective edit of an enabled workflow creates one version, of a disabled one none', async (t) => {
	const { create } = await openAutomations(t)
	const automation = await create()
	const delay = await automation.step('DELAY', day)
	const version = async () => (await automation.get()).version
	t.is(await version(), null)
	await automation.enable()
	t.is(await version(), 1)
	await automation.enable()
	await automation.change({ name: 'Renamed', description: 'text' })
	await automation.changeStep(delay.id, { position: { x: 1, y: 1 } })
	t.is(await version(), 1)
	await automation.change({ allowReentry: true, triggerConfig: { eventName: 'login' } })
	t.is(await version(), 2)
	await automation.changeStep(delay.id, { name: 'A day' })
	t.is(await version(), 3)
	const exit = await automation.step('EXIT')
	t.is(await version(), 4)
	await automation.deleteStep(exit.id)
	t.is(await version(), 5)
	await automation.change({ enabled: false })
	await automation.step('EXIT')
	t.is(await version(), 5)
	await automation.enable()
	t.is(await version(), 6)
	t.deepEqual(
		(await automation.versions()).map(({ version }: { version: number }) => version),
		[6, 5, 4, 3, 2, 1],
	)
})

test('an edit that an enabled workflow cannot have changes nothing', async (t) => {
	const { create, template } = await openAutomations(t)
	const automation = await create()
	const mail = await automation.step('SEND_EMAIL', {}, { templateId: template.id })
	const condition = await automation.step('CONDITION', flat)
	await automation.step('EXIT')
	await automation.enable()
	const before = await automation.get()
	const [first] = before.steps[0].outgoingTransitions
	const refused = [
		await automation.addStep({ type: 'DELAY', name: 'Bare' }),
		await automation.changeStep(mail.id, { templateId: null }),
		await automation.changeStep(condition.id, { config: multi }),
		await automation.connect(condition.id, mail.id, { branch: 'no' }),
		await automation.deleteStep(mail.id),
		await automation.disconnect(first.id),
	]
	for (const answer of refused) t.is(answer.statusCode, 422, answer.body)
	t.is(fault(refused[1]!), `steps.${mail.id}.templateId required`)
	t.deepEqual(await automation.get(), before)
	t.is((await automation.versions()).length, 1)
})

test('simultaneous edits all count, and each version follows from the one before', async (t) => {
	const { call, create } = await openAutomations(t)
	const automation = await create()
	await automation.step('EXIT')
	await automation.enable()
	const edits = 10
	await Promise.all(
		Array.from({ length: edits }, (_, index) =>
			automation.addStep({ type: 'DELAY', name: `D${index}`, config: day, autoConnect: false }),
		),
	)
	t.is((await automation.get()).version, edits + 1)
	for (const { version } of await automation.versions()) {
		const { definition } = (await call('GET', `/${automation.id}/versions/${version}`)).json()
		t.is(definition.steps.length, version + 1)
	}
})

test('an old version is restored with the same steps in the same places', async (t) => {
	const { create, call } = await openAutomations(t)
	const automation = await create()
	await automation.step('DELAY', day, { position: { x: 3, y: 4 } })
	const exit = await automation.step('EXIT')
	await automation.enable()
	const old = await automation.get()
	await automation.deleteStep(exit.id)
	await automation.change({ allowReentry: true, triggerConfig: { eventName: 'other' } })
	await automation.step('WEBHOOK', { url: 'https://example.org' })
	const latest = (await automation.get()).version
	const answer = await call('POST', `/${automation.id}/versions/1/restore`)
	t.is(answer.statusCode, 200)
	t.like(answer.json(), { enabled: true, version: latest + 1, allowReentry: false, warnings: [] })
	const restored = await automation.get()
	const shape = ({ steps, triggerConfig }: typeof old) => ({
		triggerConfig,
		steps: steps.map(({ id, type, name, position }: (typeof old)['steps'][0]) => ({
			id,
			type,
			name,
			position,
		})),
	})
	t.deepEqual(shape(restored), shape(old))
	t.deepEqual(await automation.ways(), ['DELAY > EXIT', 'Trigger > DELAY'])
	const [now, , ...others] = await automation.versions()
	t.is(now.hash, others.at(-1).hash)
	// A second restore changes nothing.
	await call('POST', `/${automation.id}/versions/1/restore`)
	t.is((await automation.get()).version, latest + 1)
	// On a disabled workflow only the draft changes.
	await automation.change({ enabled: false })
	const back = await call('POST', `/${automation.id}/versions/2/restore`)
	t.like(back.json(), { enabled: false, version: latest + 1 })
	t.is((await automation.get()).steps.length, 2)
})

test('the events of all versions are recorded, each once', async (t) => {
	const { create, pool } = await openAutomations(t)
	const automation = await create()
	const wait = await automation.step('WAIT_FOR_EVENT', { eventName: 'order' })
	const names = async () => {
		const { rows } = await pool.query<{ name: string }>(
			'select name from automation_event_names order by name',
		)
		return rows.map(({ name }) => name)
	}
	t.deepEqual(await names(), [])
	await automation.enable()
	t.deepEqual(await names(), ['order', 'signup'])
	await automation.changeStep(wait.id, { config: { eventName: 'email.open' } })
	await automation.change({ triggerType: 'MANUAL' })
	t.deepEqual(await names(), ['email.open', 'order', 'signup'])
})
