import test from 'ava'
import { Template } from '../db/templates/template.ts'
import { openAutomations } from './helpers/automations.ts'
import { delayStep, mailStep, setupExecutions } from './helpers/executions.ts'

interface Check {
	isValid: boolean
	errors: { stepId: string | null; name: string | null; field: string; message: string }[]
	warnings: { stepId: string; message: string }[]
}

test('a check warns of marketing to an address that is perhaps no contact', async (t) => {
	const { create, ok, template, orm } = await openAutomations(t)
	const automation = await create()
	const send = (name: string, recipient: object) =>
		automation.step('SEND_EMAIL', { templateId: template.id, recipient }, { name })
	await send('Welcome', { type: 'CONTACT' })
	const notice = await send('Notice', { type: 'CUSTOM', customEmail: 'sales@example.com' })
	const warned = async () => {
		const { warnings }: Check = await ok('POST', `/${automation.id}/validate`)
		return warnings.map(({ stepId }) => stepId)
	}
	const become = (type: 'MARKETING' | 'TRANSACTIONAL') =>
		orm.em.fork().nativeUpdate(Template, { id: template.id }, { type })
	await become('MARKETING')
	t.deepEqual(await warned(), [notice.id])
	await become('TRANSACTIONAL')
	t.deepEqual(await warned(), [])
})

test('a check finds what enabling refuses, at its step, and changes nothing', async (t) => {
	const { create, ok, template } = await openAutomations(t)
	const automation = await create()
	const check = (): Promise<Check> => ok('POST', `/${automation.id}/validate`)
	t.like(await check(), {
		isValid: false,
		errors: [{ name: 'Trigger', field: '', message: 'must lead to a first step', code: 'custom' }],
	})
	const mail = await automation.step('SEND_EMAIL', {}, { name: 'Hello' })
	const wait = await automation.step('DELAY')
	const alone = await automation.step('EXIT', undefined, { autoConnect: false, name: 'Alone' })
	const before = await automation.get()
	const { isValid, errors, warnings } = await check()
	t.false(isValid)
	t.deepEqual(
		errors
			.map(({ stepId, field }) => ({ stepId, field }))
			.toSorted((a) => (a.stepId === mail.id ? -1 : 1)),
		[
			{ stepId: mail.id, field: 'templateId' },
			{ stepId: wait.id, field: 'config' },
		],
	)
	t.deepEqual(
		warnings.map(({ stepId }) => stepId),
		[alone.id],
	)
	t.deepEqual(await automation.get(), before)
	const refused = (await automation.enable()).json().error.errors as { field: string }[]
	t.deepEqual(
		new Set(refused.map(({ field }) => field)),
		new Set(errors.map(({ stepId, field }) => `steps.${stepId}.${field}`)),
	)
	await automation.changeStep(mail.id, { templateId: template.id })
	await automation.changeStep(wait.id, { config: { amount: 1, unit: 'days' } })
	t.like(await check(), { isValid: true, errors: [] })
	t.is((await automation.enable()).statusCode, 200)
})

test('an unknown workflow can neither be checked nor counted', async (t) => {
	const { call } = await openAutomations(t)
	const id = crypto.randomUUID()
	t.is((await call('POST', `/${id}/validate`)).json().error.code, 'WORKFLOW_NOT_FOUND')
	t.is((await call('GET', `/${id}/passage`)).json().error.code, 'WORKFLOW_NOT_FOUND')
})

test('the passage says how many have been at each step, passed it and failed there', async (t) => {
	const { freeze, contact, call, advance, pool } = await setupExecutions(t)
	const id = await freeze({ steps: [mailStep, delayStep(1), mailStep] })
	t.deepEqual((await call('GET', `/workflows/${id}/passage`)).json(), {
		executions: 0,
		isWhole: true,
		steps: [],
	})
	const started: string[] = []
	for (const name of ['ann', 'bert', 'carl']) {
		const contactId = await contact(`${name}@example.org`)
		const answer = await call('POST', `/workflows/${id}/executions`, { contactId })
		started.push(answer.json<{ id: string }>().id)
		await advance(started.at(-1)!)
	}
	await pool.query(
		`update execution_steps set status = 'FAILED' where execution_id = $1 and status = 'WAITING'`,
		[started[2]],
	)
	const { definition } = (await call('GET', `/workflows/${id}/versions/1`)).json<{
		definition: { steps: { id: string; type: string }[] }
	}>()
	const typeOf = (stepId: string) => definition.steps.find((step) => step.id === stepId)!.type
	const passage = (await call('GET', `/workflows/${id}/passage`)).json<{
		executions: number
		isWhole: boolean
		steps: { stepId: string; entered: number; passed: number; failed: number }[]
	}>()
	t.like(passage, { executions: 3, isWhole: true })
	t.deepEqual(
		Object.fromEntries(passage.steps.map(({ stepId, ...counts }) => [typeOf(stepId), counts])),
		{
			TRIGGER: { entered: 3, passed: 3, failed: 0 },
			SEND_EMAIL: { entered: 3, passed: 3, failed: 0 },
			DELAY: { entered: 3, passed: 0, failed: 1 },
		},
	)
})

test('the executions of a contact are listed over all workflows, newest first', async (t) => {
	const { freeze, contact, call, advance } = await setupExecutions(t)
	const [ann, bert] = [await contact('ann@example.org'), await contact('bert@example.org')]
	const short = await freeze({ steps: [mailStep] })
	const long = await freeze({ steps: [delayStep(1)] })
	for (const [workflow, contactId] of [
		[short, ann],
		[long, bert],
		[long, ann],
	]) {
		const answer = await call('POST', `/workflows/${workflow}/executions`, { contactId })
		await advance(answer.json<{ id: string }>().id)
	}
	const list = (await call('GET', `/contacts/${ann}/executions`)).json<{ data: object[] }>()
	t.like(list, { page: 1, pageSize: 20, total: 2, totalPages: 1 })
	t.like(list.data, [
		{
			workflowId: long,
			workflow: { id: long },
			contactId: ann,
			status: 'WAITING',
			currentStep: { type: 'DELAY' },
		},
		{ workflowId: short, status: 'COMPLETED', currentStep: null },
	])
	t.like((await call('GET', `/contacts/${ann}/executions?status=WAITING`)).json(), { total: 1 })
	const second = (await call('GET', `/contacts/${ann}/executions?pageSize=1&page=2`)).json()
	t.like(second, { total: 2, totalPages: 2, data: [{ workflowId: short }] })
	t.like((await call('GET', `/contacts/${await contact('carl@example.org')}/executions`)).json(), {
		total: 0,
		data: [],
	})
	const unknown = await call('GET', `/contacts/${crypto.randomUUID()}/executions`)
	t.is(unknown.json<{ error: { code: string } }>().error.code, 'CONTACT_NOT_FOUND')
})
