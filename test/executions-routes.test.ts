import { randomUUID } from 'node:crypto'
import test from 'ava'
import { statements } from '../db/statement.ts'
import { createProject } from './helpers/app.ts'
import {
	delayStep,
	mailStep,
	setupExecutions,
	type StepSketch,
	webhookStep,
} from './helpers/executions.ts'

const manual = { steps: [mailStep, delayStep(2, 'days'), mailStep] }

test('an execution is started by hand, with variables of its own, and shown step by step', async (t) => {
	const { freeze, contact, call, advance, mails, template } = await setupExecutions(t)
	const contactId = await contact('ann@example.org', { name: 'Ann', plan: 'free' })
	const templateId = await template({ subject: '{{ plan }} {{ data.plan }} {{ workflow.name }}' })
	const id = await freeze(manual, templateId)
	const started = await call('POST', `/workflows/${id}/executions`, {
		contactId,
		context: { plan: 'gold' },
	})
	t.is(started.statusCode, 201)
	const execution = started.json<{ id: string }>()
	t.like(execution, {
		workflowId: id,
		version: 1,
		contactId,
		status: 'RUNNING',
		context: { plan: 'gold' },
		currentStepId: null,
		completedAt: null,
	})
	await advance(execution.id)
	t.is((await mails())[0]!.subject, 'gold gold Welcome')

	const path = `/workflows/${id}/executions/${execution.id}`
	const found = (await call('GET', path)).json<{
		stepExecutions: { status: string; wakesAt: string; output: object; step: object }[]
	}>()
	t.like(found, {
		status: 'WAITING',
		workflow: { id, name: 'Welcome' },
		contact: { id: contactId, email: 'ann@example.org' },
		currentStep: { name: 'Sleep', type: 'DELAY' },
	})
	const [trigger, mail, delay] = found.stepExecutions
	t.like(trigger, { status: 'COMPLETED', output: { triggered: true, eventName: null } })
	t.like(mail, {
		step: { name: 'Mail', type: 'SEND_EMAIL' },
		output: { recipientEmail: 'ann@example.org', sentAt: null },
		wakesAt: null,
	})
	t.is(delay!.status, 'WAITING')
	const inMs = Date.parse(delay!.wakesAt) - Date.now()
	t.true(inMs > 2 * 86_400_000 - 60_000 && inMs <= 2 * 86_400_000)
	t.deepEqual(delay!.output, { resumeAt: delay!.wakesAt })

	const list = (await call('GET', `/workflows/${id}/executions?status=WAITING`)).json<{
		data: object[]
	}>()
	t.like(list, { page: 1, pageSize: 20, total: 1, totalPages: 1 })
	t.like(list.data[0], { id: execution.id, currentStep: { type: 'DELAY' } })
	t.like((await call('GET', `/workflows/${id}/executions?status=FAILED`)).json(), { total: 0 })
})

test('an execution that has completed or exited is at no step', async (t) => {
	const { freeze, contact, call, advance } = await setupExecutions(t)
	const contactId = await contact()
	const steps: StepSketch[][] = [[mailStep], [mailStep, ['EXIT', { reason: 'Done' }]]]
	for (const ending of steps) {
		const id = await freeze({ steps: ending })
		const started = await call('POST', `/workflows/${id}/executions`, { contactId })
		await advance(started.json<{ id: string }>().id)
		const { data } = (await call('GET', `/workflows/${id}/executions`)).json<{ data: object[] }>()
		t.like(data[0], { currentStepId: null, currentStep: null })
	}
})

test('an execution that can’t start says why', async (t) => {
	const { orm, freeze, contact, call, select, advance, pool } = await setupExecutions(t)
	const contactId = await contact()
	const id = await freeze(manual)
	const start = (payload: object, workflow = id) =>
		call('POST', `/workflows/${workflow}/executions`, payload)
	const status = async (payload: object, workflow?: string) => {
		const answer = await start(payload, workflow)
		return [answer.statusCode, answer.json<{ error: { code: string } }>().error.code]
	}
	t.deepEqual(await status({ contactId: randomUUID() }), [404, 'CONTACT_NOT_FOUND'])
	t.deepEqual(await status({ contactId }, randomUUID()), [404, 'WORKFLOW_NOT_FOUND'])
	t.deepEqual(await status({ contactId }, 'no-id'), [404, 'WORKFLOW_NOT_FOUND'])
	t.deepEqual(await status({ contactId: 'x' }), [422, 'VALIDATION_ERROR'])
	t.deepEqual(await status({ contactId, context: [] }), [422, 'VALIDATION_ERROR'])
	t.deepEqual(await status({ contactId, context: { a: 'b\0' } }), [422, 'VALIDATION_ERROR'])
	const large = 'x'.repeat(100_000)
	for (const context of [{ id: large }, { a: { value: large, persistent: false } }])
		t.deepEqual(await status({ contactId, context }), [422, 'VALIDATION_ERROR'])

	const other = await createProject(orm)
	const { rows } = await pool.query<{ id: string }>(
		`insert into contacts (project_id, email, subscribed) values ($1, 'x@example.org', true) returning id`,
		[other.project.id],
	)
	t.deepEqual(await status({ contactId: rows[0]!.id }), [404, 'CONTACT_NOT_FOUND'])

	await select('update automations set enabled = false')
	t.deepEqual(await status({ contactId }), [400, 'BAD_REQUEST'])
	await select('update automations set enabled = true')
	const begun = (await start({ contactId })).json<{ id: string }>()
	t.deepEqual(await status({ contactId }), [409, 'CONFLICT'])
	// Without re-entry an ended execution also prevents a start; with it, only an active one does.
	await advance(begun.id)
	await advance(begun.id, 3)
	t.deepEqual(await status({ contactId }), [409, 'CONFLICT'])
	await select('update automations set allow_reentry = true')
	t.is((await start({ contactId })).statusCode, 201)
	t.deepEqual(await status({ contactId }), [409, 'CONFLICT'])
})

test('one of twenty simultaneous starts for one contact succeeds', async (t) => {
	const { freeze, contact, call, executions } = await setupExecutions(t)
	const contactId = await contact()
	for (const reentry of [false, true]) {
		const id = await freeze({ ...manual, reentry })
		const answers = await Promise.all(
			Array.from({ length: 20 }, () => call('POST', `/workflows/${id}/executions`, { contactId })),
		)
		t.is(answers.filter(({ statusCode }) => statusCode === 201).length, 1)
		t.is(answers.filter(({ statusCode }) => statusCode === 409).length, 19)
	}
	t.is((await executions()).length, 2)
})

test('an execution is cancelled at once, independent of its run, and only once', async (t) => {
	const { freeze, contact, call, advance, mails, outbox } = await setupExecutions(t)
	const contactId = await contact()
	const id = await freeze(manual)
	const { id: executionId } = (
		await call('POST', `/workflows/${id}/executions`, { contactId })
	).json<{ id: string }>()
	await advance(executionId)
	const path = `/workflows/${id}/executions/${executionId}`
	const answer = await call('DELETE', path)
	t.is(answer.statusCode, 200)
	t.like(answer.json(), { status: 'CANCELLED', exitReason: 'Cancelled by request' })
	t.is((await outbox('terminate'))[0]!.workflow_id, `automation/${executionId}`)
	t.is((await call('DELETE', path)).statusCode, 409)
	t.is((await call('POST', `${path}/retry`)).statusCode, 409)
	t.is((await call('DELETE', `/workflows/${id}/executions/${randomUUID()}`)).statusCode, 404)
	t.deepEqual(await advance(executionId, 3), { do: 'END', about: 'CANCELLED' })
	t.is((await mails()).length, 1)
	const { stepExecutions } = (await call('GET', path)).json<{ stepExecutions: object[] }>()
	t.like(stepExecutions[2], { status: 'SKIPPED', wakesAt: null })
})

test('another project sees and touches nothing', async (t) => {
	const { app, orm, freeze, contact, call } = await setupExecutions(t)
	const contactId = await contact()
	const id = await freeze(manual)
	const { id: executionId } = (
		await call('POST', `/workflows/${id}/executions`, { contactId })
	).json<{ id: string }>()
	const { withSecretKey: headers } = await createProject(orm)
	for (const [method, url] of [
		['GET', `/workflows/${id}/executions`],
		['POST', `/workflows/${id}/executions/cancel-all`],
		['POST', `/workflows/${id}/executions/retry-failed`],
		['GET', `/workflows/${id}/executions/${executionId}`],
		['DELETE', `/workflows/${id}/executions/${executionId}`],
		['POST', `/workflows/${id}/executions/${executionId}/retry`],
	] as const)
		t.is((await app.inject({ method, url, headers })).statusCode, 404, `${method} ${url}`)
	t.like((await call('GET', `/workflows/${id}/executions/${executionId}`)).json(), {
		status: 'RUNNING',
	})
})

test('a failed execution continues with the step that failed', async (t) => {
	const { freeze, contact, call, advance, select, executions, outbox } = await setupExecutions(t)
	const contactId = await contact()
	const id = await freeze({ steps: [mailStep, webhookStep('http://127.0.0.1:9/')] })
	const { id: executionId } = (
		await call('POST', `/workflows/${id}/executions`, { contactId })
	).json<{ id: string }>()
	t.like(await advance(executionId), { do: 'CALL', visit: 3 })
	await select(`update execution_steps set status = 'FAILED' where visit = 3`)
	await select(`update executions set status = 'FAILED', error = 'WebhookFailed: x'`)
	const retried = await call('POST', `/workflows/${id}/executions/${executionId}/retry`)
	t.is(retried.statusCode, 200)
	t.like(retried.json(), { status: 'RUNNING', error: null, completedAt: null })
	t.is((await outbox('start')).length, 2)
	t.like(await advance(executionId), { do: 'CALL', visit: 4 })
	t.is((await executions())[0]!.visit, 4)
})

test('of steps with outputs of megabytes the latest are shown', async (t) => {
	const { freeze, contact, call, executionId, select } = await setupExecutions(t)
	const id = await freeze(manual)
	await call('POST', `/workflows/${id}/executions`, { contactId: await contact() })
	const execution = await executionId()
	await select(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status, output)
		select project_id, id, n, '00000000-0000-7000-8000-000000000001', 'WEBHOOK', 'COMPLETED',
			jsonb_build_object('n', n, 'response', repeat('é', 500000))
		from executions, generate_series(1, 40) n`,
	)
	const seen = async () => {
		const answer = (await call('GET', `/workflows/${id}/executions/${execution}`)).json()
		return answer.stepExecutions.map(({ output }: { output: { n: number } }) => output?.n)
	}
	t.deepEqual(await seen(), [36, 37, 38, 39, 40])
	await select(`update execution_steps set output = '{"n": 0}' where visit > 1`)
	t.is((await seen()).length, 40)
})

test('a workflow counts the people at each step, and its executions are listed by step', async (t) => {
	const { app, orm, freeze, contact, call, advance, select, project } = await setupExecutions(t)
	const id = await freeze({ steps: [delayStep(2, 'days'), webhookStep('http://127.0.0.1:9/')] })
	await select(
		`insert into automation_steps (project_id, automation_id, id, type, name, x, y, config)
		select $1, $2, s.id, s.type, s.name, 0, 0, '{}' from automation_versions v
		cross join jsonb_to_recordset(v.definition->'steps') as s (id uuid, type text, name text)`,
		[project.id, id],
	)
	const people: string[] = []
	for (const name of ['ann', 'bob', 'cid', 'dan']) {
		const contactId = await contact(`${name}@example.org`)
		const started = await call('POST', `/workflows/${id}/executions`, { contactId })
		people.push(started.json<{ id: string }>().id)
		await advance(people.at(-1)!)
	}
	const [ann, bob, cid, dan] = people as [string, string, string, string]
	for (const one of [cid, dan]) await advance(one, 2)
	await call('DELETE', `/workflows/${id}/executions/${bob}`)
	await select(`update executions set status = 'FAILED', completed_at = now() where id = $1`, [dan])
	const { steps } = (await call('GET', `/workflows/${id}`)).json<{
		steps: { id: string; activeExecutions: number }[]
	}>()
	t.deepEqual(
		steps.map(({ activeExecutions }) => activeExecutions),
		[0, 1, 1],
	)
	const at = async (query: string) => {
		const answer = await call('GET', `/workflows/${id}/executions?${query}`)
		const { data, total } = answer.json<{ data: { id: string }[]; total: number }>()
		t.is(total, data.length)
		return data.map((execution) => execution.id)
	}
	const [trigger, delay, webhook] = steps.map((step) => step.id)
	t.deepEqual(await at(`stepId=${trigger}`), [])
	t.deepEqual(await at(`stepId=${delay}`), [ann])
	t.deepEqual(await at(`stepId=${webhook}`), [cid])
	t.deepEqual(await at(`stepId=${webhook}&status=RUNNING`), [cid])
	t.deepEqual(await at(`stepId=${webhook}&status=WAITING`), [])
	t.deepEqual(await at(`stepId=${webhook}&status=FAILED`), [dan])
	t.deepEqual(await at(`stepId=${delay}&status=CANCELLED`), [bob])
	t.deepEqual(await at(`stepId=${randomUUID()}`), [])
	t.is((await call('GET', `/workflows/${id}/executions?stepId=x`)).statusCode, 400)
	const { withSecretKey: headers } = await createProject(orm)
	const url = `/workflows/${id}/executions?stepId=${delay}`
	t.is((await app.inject({ method: 'GET', url, headers })).statusCode, 404)
})

test('the people at a step are counted and listed by an index that has no ended executions', async (t) => {
	const { pool, project, freeze, select } = await setupExecutions(t)
	const ids = [
		await freeze(manual),
		await freeze(manual),
		await freeze(manual),
		await freeze(manual),
	]
	await select(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.org', true from generate_series(1, 500) n`,
		[project.id],
	)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, current_step_id)
		select $1, a.id, 1, c.id, false, case when random() < 0.2 then 'WAITING' else 'COMPLETED' end, uuidv7()
		from contacts c cross join unnest($2::uuid[]) with ordinality a(id, n) where c.project_id = $1`,
		[project.id, ids],
	)
	const db = await pool.connect()
	t.teardown(() => db.release(true))
	await db.query('analyze executions')
	await db.query('set enable_seqscan = off; set enable_bitmapscan = off')
	const atStep = /using executions_at_step/
	for (const [name, index] of [
		['count-active-executions-at-steps', /using executions_(at_step|in_force)/],
		['count-executions-at-step', atStep],
		['list-executions-at-step', atStep],
	] as const) {
		const { rows } = await db.query(`explain (generic_plan) ${statements.get(name)!.text}`)
		t.regex(JSON.stringify(rows), index, name)
	}
})

test('an unknown status is a bad request', async (t) => {
	const { freeze, call } = await setupExecutions(t)
	const id = await freeze(manual)
	t.is((await call('GET', `/workflows/${id}/executions?status=ASLEEP`)).statusCode, 400)
	t.is((await call('GET', `/workflows/${id}/executions?contactId=x`)).statusCode, 400)
})

test('a hundred thousand executions are cancelled within seconds, and Temporal follows', async (t) => {
	const { freeze, call, select, project, outbox } = await setupExecutions(t)
	const id = await freeze(manual)
	await select(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.org', true from generate_series(1, 100000) n`,
		[project.id],
	)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status)
		select $1, $2, 1, id, false, 'WAITING' from contacts where project_id = $1`,
		[project.id, id],
	)
	const startedAt = Date.now()
	const answer = await call('POST', `/workflows/${id}/executions/cancel-all`)
	const seconds = (Date.now() - startedAt) / 1000
	t.deepEqual(answer.json(), { cancelled: 100_000 })
	t.true(seconds < 30, `${seconds} s`)
	t.log(`${seconds} s`)
	const [left] = await select<{ n: number }>(
		`select count(*)::int as n from executions where status <> 'CANCELLED' or not is_closing`,
	)
	t.is(left!.n, 0)
	t.is((await outbox('signal'))[0]!.workflow_id, `close/${project.id}`)
})
