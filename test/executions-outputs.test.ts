import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { callWebhook } from '../activities/automations/webhook-step.ts'
import { mailStep, setupExecutions, type StepSketch, webhookStep } from './helpers/executions.ts'
import { answering, startReceiver } from './helpers/webhook-receiver.ts'

/** An execution at the first of its WEBHOOK steps, which are named Call1, Call2 and so on. */
async function atCalls(t: ExecutionContext, count: number, subject = '') {
	const receiver = await startReceiver(t)
	const context = await setupExecutions(t)
	await context.contact()
	const calls = Array.from({ length: count }, (_, i): StepSketch => {
		const [type, config] = webhookStep(receiver.url)
		return [type, config, `Call${i + 1}`]
	})
	const template = await context.template({ subject })
	const workflow = await context.freeze({ on: 'x', steps: [...calls, mailStep] }, template)
	await context.track('x')
	const id = await context.executionId()
	await context.advance(id)
	const services = {
		...context.services,
		settings: { ...context.services.settings, webhooks: { allowPrivate: true, dnsServers: [] } },
	}
	const key = { projectId: context.project.id, executionId: id }
	return {
		...context,
		id,
		receiver,
		perform: (visit: number) =>
			new MockActivityEnvironment().run(callWebhook, services, key, visit),
		/** The outputs of the calls that the API shows. */
		async outputs() {
			const answer = await context.call('GET', `/workflows/${workflow}/executions/${id}`)
			const { stepExecutions } = answer.json<{ stepExecutions: { output: Output | null }[] }>()
			return stepExecutions.slice(1, count + 1).map(({ output }) => output!)
		},
	}
}

interface Output {
	statusCode: number
	success: boolean
	response: unknown
	note?: string
}

test('responses are stored until the outputs of an execution reach 1 MB, then a note says so', async (t) => {
	const { receiver, perform, advance, outputs, id } = await atCalls(t, 18)
	receiver.answer = answering(200, 'x'.repeat(65_536))
	for (let visit = 2; visit < 20; visit++) {
		if (visit === 19) receiver.answer = answering(200, 'small')
		await perform(visit)
		await advance(id, visit)
	}
	const found = await outputs()
	t.true(JSON.stringify(found).length < 2 ** 20)
	t.deepEqual(
		found.map(({ response }) => (response as string | null)?.length ?? null),
		[...Array.from({ length: 15 }, () => 65_536), null, null, 5],
	)
	t.deepEqual(found[15], {
		statusCode: 200,
		success: true,
		response: null,
		note: 'The response was not stored, because the outputs of this execution would exceed 1 MB',
	})
})

test('of outputs that were stored without a limit, small ones and the newest 2 MB are variables', async (t) => {
	const subject = [1, 10, 39]
		.map((n) => `{{ steps.Call${n}.response | slice: 0 }}{{ steps.Call${n}.statusCode }}`)
		.join('|')
	const { select, advance, mails, id } = await atCalls(
		t,
		40,
		`${subject} {{ steps.Start.triggered }}`,
	)
	await select(
		`insert into execution_steps (project_id, execution_id, visit, step_id, type, status, output)
		select x.project_id, x.id, n + 1, (s->>'id')::uuid, 'WEBHOOK', 'COMPLETED', jsonb_build_object(
			'statusCode', 200, 'response', repeat('x', case n when 10 then 10 else 65536 end))
		from executions x join automation_versions v on v.automation_id = x.automation_id
		cross join jsonb_array_elements(v.definition->'steps') with ordinality s(s, place)
		cross join lateral (select (place - 1)::int as n) m where n between 1 and 40
		on conflict (project_id, execution_id, visit) do update set
			status = excluded.status, output = excluded.output`,
	)
	await select(
		`update executions x set visit = 41, current_step_id = s.step_id from execution_steps s where s.visit = 41`,
	)
	await advance(id, 41)
	t.is((await mails())[0]!.subject, '|x200|x200 true')
})

test('a response of very many values is stored as text', async (t) => {
	const { receiver, perform, outputs } = await atCalls(t, 1)
	const response = `[${'0,'.repeat(20_000)}0]`
	receiver.answer = answering(200, response)
	await perform(2)
	t.true((await outputs())[0]!.response === response)
})
