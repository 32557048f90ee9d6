import test from 'ava'
import { mailStep, setupExecutions, waitStep } from './helpers/executions.ts'

for (const state of [
	`disabled_reason = 'PAYMENT_FAILED'`,
	`disabled_reason = 'MANUAL', deleted_at = now(), public_id = null`,
])
	test(`in a project with ${state} events start no executions, but wake waiting ones`, async (t) => {
		const { freeze, contact, track, executions, select, project, outbox, executionId, advance } =
			await setupExecutions(t)
		await contact()
		const [eve, ann] = [await contact('eve@example.org'), await contact()]
		await freeze({ on: 'signed-up', steps: [waitStep('bought', 60), mailStep] })
		await track('signed-up')
		await advance(await executionId())
		const happen = (contactId: string, name: string) =>
			select('insert into events (project_id, contact_id, name) values ($1, $2, $3)', [
				project.id,
				contactId,
				name,
			])
		await select(`update projects set ${state}`)
		await happen(eve, 'signed-up')
		t.is((await executions()).length, 1)
		await happen(ann, 'bought')
		t.is((await outbox('signal')).length, 1)
		await select(`update projects set disabled_reason = null, deleted_at = null, public_id = id`)
		await happen(eve, 'signed-up')
		t.is((await executions()).length, 2)
	})
