import { Client, Connection } from '@temporalio/client'
import test, { type ExecutionContext } from 'ava'
import { client, until } from '../bench/load.ts'
import { prepareStack } from '../bench/stack.ts'
import { attributeTypes, searchAttributes } from '../db/outbox/search-attributes.ts'
import { poolOf } from '../db/statement.ts'
import { delayStep, freeze, waitStep } from './helpers/executions.ts'

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}
const ofExecutions = ['CurrentStep', 'WaitingSince']
const others = Object.keys(searchAttributes).filter((name) => !ofExecutions.includes(name))

test('a worker registers missing attributes, and operators find executions by step and waiting time', async (t) => {
	const { stack, namespace, operator, temporal, automationId, track, history } = await setupStack(t)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const { customAttributes } = await operator.listSearchAttributes({ namespace })
	for (const name of ofExecutions as (keyof typeof searchAttributes)[])
		t.is(customAttributes[name], attributeTypes[searchAttributes[name]])

	const began = new Date()
	await track('signed-up')
	const found = async (step: string, since: Date) => {
		const times = `WaitingSince >= '${since.toISOString()}' and WaitingSince <= '${new Date().toISOString()}'`
		const query = `AutomationId = '${automationId}' and CurrentStep = '${step}' and ${times}`
		return (await temporal.workflow.count(query)).count === 1
	}
	t.true(await until(() => found('00000000-0000-7000-8000-000000000001', began), 60_000))
	const bought = new Date()
	await track('bought')
	t.true(await until(() => found('00000000-0000-7000-8000-000000000002', bought), 60_000))

	const events = await history()
	const summaries = events
		.filter((event) => event.timerStartedEventAttributes)
		.map(({ userMetadata }) => String(userMetadata?.summary?.data))
	t.is(summaries.length, 2)
	t.regex(summaries[0]!, /Wait.* waits for .*bought/)
	t.regex(summaries[1]!, /Sleep.* sleeps until/)
	const tasks = events.filter((event) => event.workflowTaskCompletedEventAttributes)
	t.is(tasks.length, 2, 'one at the start, one when the event arrives')
})

test('executions run without attributes that Temporal refuses to register, and the log has the command', async (t) => {
	const { stack, namespace, operator, temporal, track, history } = await setupStack(t, 1)
	const { Datetime } = attributeTypes
	const strangers = { FirstSeen: Datetime, LastSeen: Datetime, Expires: Datetime }
	await operator.addSearchAttributes({ namespace, searchAttributes: strangers })
	await Promise.all([stack.api.start(), stack.worker.start()])
	const output = stack.worker.output()
	t.true(
		output.includes(
			`temporal operator search-attribute create --namespace ${namespace} --name CurrentStep --type Keyword --name WaitingSince --type Datetime`,
		),
		output,
	)
	await track('signed-up')
	await track('bought')
	const ended = `WorkflowType = 'automation' and ExecutionStatus = 'Completed'`
	t.true(await until(async () => (await temporal.workflow.count(ended)).count === 1, 60_000))
	const events = await history()
	t.false(events.some((event) => event.upsertWorkflowSearchAttributesEventAttributes))
	t.false(events.some((event) => event.workflowTaskFailedEventAttributes))
})

async function setupStack(t: ExecutionContext, sleepSeconds = 3600) {
	const stack = await prepareStack(servers, { EMAIL_PROVIDER: 'local' }, others)
	t.teardown(stack.stop)
	const connection = await Connection.connect({ address: servers.temporalAddress })
	t.teardown(() => connection.close())
	const { namespace } = stack
	const sketch = { on: 'signed-up', steps: [waitStep('bought', 3600), delayStep(sleepSeconds)] }
	const pool = await poolOf(stack.orm.em)
	const http = client(stack.apiUrl, stack.publicKey, 1)
	t.teardown(http.close)
	const temporal = new Client({ connection, namespace })
	return {
		stack,
		namespace,
		operator: connection.operatorService,
		temporal,
		/** Temporal's record of the only execution. */
		async history() {
			const { rows } = await pool.query<{ id: string }>('select id from executions')
			const handle = temporal.workflow.getHandle(`automation/${rows[0]!.id}`)
			return (await handle.fetchHistory()).events!
		},
		automationId: await freeze(pool, stack.projectId, '', sketch),
		track: (event: string) => http.post('/v1/track', { email: 'ann@example.org', event }),
	}
}
