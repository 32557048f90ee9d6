import test, { type ExecutionContext } from 'ava'
import { blocksReadBy } from './helpers/blocks-read.ts'
import { openAutomations } from './helpers/automations.ts'
import { plan } from './helpers/segments.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

async function openUsage(t: ExecutionContext) {
	const opened = await openAutomations(t)
	const { app, headers, pool, project } = opened
	const ask = async (method: Method, url: string, body?: object) => {
		const answer = await app.inject({ method, url, headers, ...(body ? { body } : {}) })
		return { status: answer.statusCode, body: answer.body === '' ? null : answer.json() }
	}
	const segment = async () =>
		(await ask('POST', '/segments', { name: 'Pros', condition: plan('pro') })).body.id as string
	/** Simulates an execution of the version. */
	const run = (automationId: string, version: number) =>
		pool.query(
			`with contact as (
				insert into contacts (project_id, email, subscribed) values ($1, 'a@b.ch', true) returning id
			)
			insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status)
			select $1, $2, $3, id, false, 'WAITING' from contact`,
			[project.id, automationId, version],
		)
	const end = () => pool.query(`update executions set status = 'COMPLETED', completed_at = now()`)
	return { ...opened, ask, segment, run, end }
}

test('a template that a step sends is in use, by the draft or by an execution of an older version', async (t) => {
	const { ask, create, template, run, end } = await openUsage(t)
	const usage = async () => (await ask('GET', `/templates/${template.id}/usage`)).body.workflowSteps
	t.deepEqual(await usage(), [])
	const automation = await create()
	const step = await automation.step('SEND_EMAIL', {}, { templateId: template.id, name: 'Hello' })
	await automation.step('EXIT')
	const use = {
		id: step.id,
		name: 'Hello',
		workflowId: automation.id,
		workflowName: 'Onboarding',
	}
	t.deepEqual(await usage(), [use])
	const refused = await ask('DELETE', `/templates/${template.id}`)
	t.is(refused.status, 409)
	t.is(refused.body.error.code, 'CONFLICT')
	t.deepEqual(refused.body.error.details.usedBy.workflowSteps, [use])
	await automation.enable()
	await run(automation.id, 1)
	await automation.deleteStep(step.id, '?splice=true')
	t.deepEqual(await usage(), [use])
	t.is((await ask('DELETE', `/templates/${template.id}`)).status, 409)
	await end()
	t.deepEqual(await usage(), [])
	t.is((await ask('DELETE', `/templates/${template.id}`)).status, 204)
})

test('restoring a version with a deleted template leaves the step without one, if the workflow is disabled', async (t) => {
	const { ask, call, create, template } = await openUsage(t)
	const automation = await create()
	const step = await automation.step('SEND_EMAIL', {}, { templateId: template.id })
	await automation.step('EXIT')
	await automation.enable()
	await automation.deleteStep(step.id, '?splice=true')
	t.is((await ask('DELETE', `/templates/${template.id}`)).status, 204)
	const refused = await call('POST', `/${automation.id}/versions/1/restore`)
	t.is(refused.statusCode, 422)
	t.is(refused.json().error.errors[0].field, `steps.${step.id}.templateId`)
	t.is((await automation.get()).steps.length, 2)
	await automation.change({ enabled: false })
	t.is((await call('POST', `/${automation.id}/versions/1/restore`)).statusCode, 200)
	t.is((await automation.get()).steps[1].templateId, null)
})

test('a step that starts to use a template excludes its simultaneous deletion', async (t) => {
	const { ask, create, template } = await openUsage(t)
	const automation = await create()
	for (let round = 0; round < 5; round++) {
		const copy = (await ask('POST', `/templates/${template.id}/duplicate`)).body.id
		const [added, deleted] = await Promise.all([
			automation.addStep({ type: 'SEND_EMAIL', name: 'Mail', templateId: copy }),
			ask('DELETE', `/templates/${copy}`),
		])
		const outcome = [added.statusCode, deleted.status].join()
		t.true(['201,409', '404,204'].includes(outcome), outcome)
	}
})

test('a segment that a trigger or a CONDITION names cannot be deleted', async (t) => {
	const { ask, create, segment } = await openUsage(t)
	const id = await segment()
	const automation = await create()
	const inUse = async () => {
		const { workflows } = (await ask('GET', `/segments/${id}/usage`)).body
		const { status, body } = await ask('DELETE', `/segments/${id}`)
		t.deepEqual(workflows, status === 409 ? body.error.details.usedBy.workflows : [])
		if (status === 409)
			t.deepEqual(body.error.details.usedBy.workflows, [{ id: automation.id, name: 'Onboarding' }])
		return status
	}
	const triggerConfig = { schedule: '@daily', segmentId: id.toUpperCase() }
	t.is((await automation.change({ triggerType: 'SCHEDULE', triggerConfig })).statusCode, 200)
	t.is((await automation.get()).triggerConfig.segmentId, id)
	t.is(await inUse(), 409)
	t.is((await automation.change({ triggerType: 'MANUAL' })).statusCode, 200)
	const filter = { field: `segment.${id.toUpperCase()}`, operator: 'memberOfSegment' }
	const config = { logic: 'AND', groups: [{ filters: [filter] }] }
	const step = await automation.step('CONDITION', config)
	t.is(await inUse(), 409)
	await automation.deleteStep(step.id)
	t.is(await inUse(), 204)
	const gone = await automation.addStep({ type: 'CONDITION', name: 'Gone', config })
	t.is(gone.statusCode, 422)
	t.is(gone.json().error.errors[0].field, 'config.groups.0.filters.0.field')
})

test('a segment whose events a workflow starts with or waits for cannot be deleted', async (t) => {
	const { ask, create, run, end } = await openUsage(t)
	const made = { name: 'Gold Customers', condition: plan('pro'), trackMembership: true }
	const { id } = (await ask('POST', '/segments', made)).body
	const inUse = async () => (await ask('DELETE', `/segments/${id}`)).status
	const begun = await create({ eventName: 'segment.gold-customers.entry' })
	t.is(await inUse(), 409)
	t.is((await begun.change({ triggerConfig: { eventName: 'signup' } })).statusCode, 200)
	const wait = await begun.step('WAIT_FOR_EVENT', { eventName: 'segment.gold-customers.exit' })
	await begun.step('EXIT', {}, { autoConnect: false })
	const { status, body } = await ask('DELETE', `/segments/${id}`)
	t.is(status, 409)
	t.deepEqual(body.error.details.usedBy.workflows, [{ id: begun.id, name: 'Onboarding' }])
	await begun.enable()
	await run(begun.id, 1)
	await begun.step('DELAY', { amount: 1, unit: 'days' }, { autoConnect: false })
	await begun.change({ enabled: false })
	await begun.deleteStep(wait.id)
	t.is(await inUse(), 409)
	await end()
	t.is(await inUse(), 204)
})

test('renaming a segment, or no longer tracking it, names the workflows that lose its events', async (t) => {
	const { ask, create } = await openUsage(t)
	const made = { name: 'Gold', condition: plan('pro'), trackMembership: true }
	const { id } = (await ask('POST', '/segments', made)).body
	const change = async (body: object) => (await ask('PATCH', `/segments/${id}`, body)).body.warnings
	t.deepEqual(await change({ name: 'Silver' }), [])
	const automation = await create({ eventName: 'segment.silver.entry' })
	t.deepEqual(await change({ name: 'SILVER', description: 'The same slug' }), [])
	const [renamed] = await change({ name: 'Gold' })
	t.like(renamed, { workflowId: automation.id, name: 'Onboarding' })
	t.true(renamed.message.includes('segment.gold.entry'))
	t.deepEqual(await change({ name: 'Bronze' }), [])
	await change({ name: 'Silver' })
	t.is((await change({ trackMembership: false })).length, 1)
})

test('enabling warns of events that no segment emits', async (t) => {
	const { ask, create } = await openUsage(t)
	const tracked = { name: 'Gold', condition: plan('pro'), trackMembership: true }
	await ask('POST', '/segments', tracked)
	await ask('POST', '/segments', { name: 'Silent', condition: plan('pro') })
	const messages = async (eventName: string) => {
		const automation = await create({ eventName })
		await automation.step('WAIT_FOR_EVENT', { eventName: 'segment.nowhere.exit' }, { name: 'Wait' })
		await automation.step('EXIT')
		const { warnings } = (await automation.enable()).json()
		return warnings.map(({ name, message }: { name: string; message: string }) => [
			name,
			message.split(',')[0]!.split('.')[0],
		])
	}
	const wait = ['Wait', 'No segment has the event "segment']
	t.deepEqual(await messages('segment.gold.entry'), [wait])
	t.deepEqual(await messages('segment.goldd.entry'), [
		['Trigger', 'No segment has the event "segment'],
		wait,
	])
	t.deepEqual(await messages('segment.silent.exit'), [
		['Trigger', 'The segment "Silent" does not track its members'],
		wait,
	])
})

test('a version with a deleted segment cannot be restored', async (t) => {
	const { ask, call, create, segment } = await openUsage(t)
	const automation = await create()
	await automation.step('EXIT')
	const triggerConfig = { schedule: '@daily', segmentId: await segment() }
	await automation.change({ triggerType: 'SCHEDULE', triggerConfig, enabled: true })
	await automation.change({ triggerType: 'MANUAL' })
	const id = await segment()
	const filter = { field: `segment.${id}`, operator: 'memberOfSegment' }
	const step = await automation.step(
		'CONDITION',
		{ logic: 'AND', groups: [{ filters: [filter] }] },
		{ autoConnect: false },
	)
	await automation.deleteStep(step.id)
	const { body } = await ask('GET', '/segments')
	for (const { id } of body) t.is((await ask('DELETE', `/segments/${id}`)).status, 204)
	const before = await automation.get()
	const scheduled = await call('POST', `/${automation.id}/versions/1/restore`)
	t.is(scheduled.statusCode, 404)
	t.is(scheduled.json().error.details.resource, 'segment')
	const withStep = await call('POST', `/${automation.id}/versions/3/restore`)
	t.is(withStep.statusCode, 422)
	t.is(withStep.json().error.errors[0].field, `steps.${step.id}.config.groups.0.filters.0.field`)
	t.deepEqual(await automation.get(), before)
})

test('a field that a step compares or writes is in use', async (t) => {
	const { ask, create } = await openUsage(t)
	const automation = await create()
	const used = [{ id: automation.id, name: 'Onboarding' }]
	const configs: [string, object][] = [
		['CONDITION', { field: 'data.plan', operator: 'exists' }],
		['CONDITION', { field: 'data.plan.tier', operator: 'exists' }],
		['CONDITION', { field: 'contact.data.plan', operator: 'exists' }],
		['CONDITION', { field: 'contact.plan', operator: 'exists' }],
		[
			'CONDITION',
			{
				mode: 'multi',
				field: 'data.plan',
				branches: [{ id: 'a', name: 'A', operator: 'exists' }],
			},
		],
		['CONDITION', plan('pro')],
		['UPDATE_CONTACT', { data: { plan: 'pro' } }],
	]
	for (const [type, config] of configs) {
		const step = await automation.step(type, config, { autoConnect: false })
		for (const field of ['plan', 'data.plan']) {
			const { body } = await ask('GET', `/contacts/fields/${field}/usage`)
			t.deepEqual(body.usedInWorkflows, used, JSON.stringify(config))
			t.false(body.canDelete)
		}
		t.is((await ask('DELETE', '/contacts/fields/plan')).status, 409)
		await automation.deleteStep(step.id)
	}
	await automation.step('CONDITION', { field: 'data.planet', operator: 'exists' })
	await automation.step('CONDITION', { field: 'event.plan', operator: 'exists' })
	t.deepEqual((await ask('GET', '/contacts/fields/plan/usage')).body.usedInWorkflows, [])
	t.is((await ask('DELETE', '/contacts/fields/plan')).status, 200)
	await automation.step('CONDITION', { field: 'contact.email', operator: 'exists' })
	t.deepEqual((await ask('GET', '/contacts/fields/email/usage')).body.usedInWorkflows, used)
})

test('an event that a workflow begins with, waits for or asks for is in use', async (t) => {
	const { ask, create, run, end } = await openUsage(t)
	const automation = await create({ eventName: 'start' })
	const filter = { field: 'event.asked', operator: 'triggered' }
	await automation.step('CONDITION', { logic: 'AND', groups: [{ filters: [filter] }] })
	const wait = await automation.step('WAIT_FOR_EVENT', { eventName: 'waited' })
	const used = [{ id: automation.id, name: 'Onboarding' }]
	for (const name of ['start', 'asked', 'waited']) {
		const { body } = await ask('GET', `/events/${name}/usage`)
		t.deepEqual(body.usedInWorkflows, used, name)
		t.is((await ask('DELETE', `/events/${name}`)).status, 409)
	}
	await automation.enable()
	await run(automation.id, 1)
	await automation.changeStep(wait.id, { config: { eventName: 'other' } })
	t.is((await ask('DELETE', '/events/waited')).status, 409)
	await end()
	t.is((await ask('DELETE', '/events/waited')).status, 200)
	await automation.change({ triggerType: 'MANUAL' })
	t.is((await ask('DELETE', '/events/start')).status, 200)
})

test('a workflow is deleted only when none of its executions is active', async (t) => {
	const { ask, call, create, run, end } = await openUsage(t)
	const automation = await create()
	await automation.step('EXIT')
	await automation.enable()
	await run(automation.id, 1)
	t.like((await ask('GET', '/workflows')).body.data[0]._count, { steps: 2, executions: 1 })
	const refused = await call('DELETE', `/${automation.id}`)
	t.is(refused.statusCode, 409)
	t.deepEqual(refused.json().error.details, { activeExecutions: 1 })
	await end()
	t.is((await call('DELETE', `/${automation.id}`)).statusCode, 204)
})

test('an event is never refused while the workflow it starts is being deleted', async (t) => {
	const { app, call, create, withPublicKey } = await openUsage(t)
	const track = (round: number) =>
		app.inject({
			method: 'POST',
			url: '/v1/track',
			headers: withPublicKey,
			payload: { email: `${round}@b.ch`, event: 'signup' },
		})
	for (let round = 0; round < 8; round++) {
		const automation = await create()
		await automation.step('EXIT')
		t.is((await automation.enable()).statusCode, 200)
		const [first, deleted, second] = await Promise.all([
			track(2 * round),
			call('DELETE', `/${automation.id}`),
			track(2 * round + 1),
		])
		for (const tracked of [first, second]) t.is(tracked.statusCode, 200, tracked.body)
		t.true([204, 409].includes(deleted.statusCode), deleted.body)
		const left = await call('GET', `/${automation.id}`)
		t.is(left.statusCode, deleted.statusCode === 204 ? 404 : 200)
		if (left.statusCode === 200) await automation.change({ enabled: false })
	}
})

test('the fields of a condition are those of contacts and of the latest events', async (t) => {
	const { app, ask, withPublicKey } = await openUsage(t)
	const data = { plan: 'pro', total: { value: 5, persistent: false } }
	const tracked = await app.inject({
		method: 'POST',
		url: '/v1/track',
		headers: withPublicKey,
		payload: { email: 'a@b.ch', event: 'order', data },
	})
	t.is(tracked.statusCode, 200)
	const contactFields = [
		{ field: 'contact.email', type: 'string', category: 'contact' },
		{ field: 'contact.subscribed', type: 'boolean', category: 'contact' },
		{ field: 'contact.createdAt', type: 'date', category: 'contact' },
		{ field: 'contact.updatedAt', type: 'date', category: 'contact' },
		{ field: 'contact.data.plan', type: 'string', category: 'contact' },
	]
	const eventFields = [
		{ field: 'event.plan', type: 'string', category: 'event' },
		{ field: 'event.total', type: 'number', category: 'event' },
	]
	const named = (typedFields: { field: string }[]) => ({
		fields: typedFields.map(({ field }) => field),
		typedFields,
		count: typedFields.length,
	})
	// Without a name: for the most frequent names.
	t.deepEqual(
		(await ask('GET', '/workflows/fields')).body,
		named([...contactFields, ...eventFields]),
	)
	t.deepEqual(
		(await ask('GET', '/workflows/fields?eventName=order')).body,
		named([...contactFields, ...eventFields]),
	)
	t.deepEqual((await ask('GET', '/workflows/fields?eventName=none')).body, named(contactFields))
})

test('what is in use is found without reading the active executions', async (t) => {
	const { create, template, pool, project } = await openUsage(t)
	const automation = await create()
	await automation.step('SEND_EMAIL', {}, { templateId: template.id })
	await automation.enable()
	await pool.query(
		`with people as (
			insert into contacts (project_id, email, subscribed)
			select $1, n || '@example.com', true from generate_series(1, 5000) n returning id
		)
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status)
		select $1, $2, 1, id, false, 'WAITING' from people`,
		[project.id, automation.id],
	)
	await pool.query('vacuum analyze executions')
	const blocks = await blocksReadBy(pool, 'steps-sending-template', [project.id, template.id])
	t.true(blocks < 30, `${blocks}`)
})
