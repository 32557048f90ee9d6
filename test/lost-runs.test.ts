import { WorkflowNotFoundError } from '@temporalio/client'
import test from 'ava'
import { restartLost } from '../db/outbox/lost-runs.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { mailStep, setupExecutions } from './helpers/executions.ts'
import { temporalThat } from './helpers/forgetful.ts'

test('a lost run is found among many live ones, which are not checked again for a while', async (t) => {
	const { pool, select, project, freeze, outbox } = await setupExecutions(t)
	const automationId = await freeze({ steps: [mailStep] })
	await select(
		`insert into contacts (project_id, email, subscribed)
		select $1, n || '@example.org', true from generate_series(1, 250) n`,
		[project.id],
	)
	await select(
		`insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status, due_at)
		select $1, $2, 1, id, false, 'RUNNING', now() - make_interval(secs => 1000 - row_number() over ())
		from contacts`,
		[project.id, automationId],
	)
	// The row with the shortest wait is checked last.
	const [last] = await select<{ id: string }>(
		'select id from executions order by due_at desc limit 1',
	)
	const lost = last!.id
	const asked: string[] = []
	let atOnce = 0
	let most = 0
	const describe = async (workflowId: string) => {
		asked.push(workflowId)
		most = Math.max(most, ++atOnce)
		await new Promise(setImmediate)
		atOnce -= 1
		if (workflowId === `automation/${lost}`)
			throw new WorkflowNotFoundError('not found', workflowId, undefined)
		return { status: { name: 'RUNNING' } }
	}
	const temporal = temporalThat(describe)
	const look = (isStopped = () => false) =>
		restartLost({ pool, temporal, workflowTaskQueue: taskQueues.core, isStopped })

	t.is(await look(() => true), 0)
	t.is(asked.length, 0)
	t.is(await look(), 1)
	t.is(new Set(asked).size, 250)
	t.is(most, 20)
	t.deepEqual(
		(await outbox('start')).map(({ workflow_id }) => workflow_id),
		[`automation/${lost}`],
	)

	const pass = (minutes: number) =>
		select('update executions set due_at = due_at - make_interval(mins => $1::int)', [minutes])
	await select('update outbox set done_at = now()')
	asked.length = 0
	await pass(3)
	await look()
	t.deepEqual(asked, [`automation/${lost}`])
	asked.length = 0
	await select('update outbox set done_at = now()')
	await pass(8)
	await look()
	t.is(asked.length, 250)
})
