import test from 'ava'
import { atRest } from '../bench/at-rest.ts'
import { delayStep, mailStep, setupExecutions } from './helpers/executions.ts'

test('an execution that ends by writing a mail leaves a mail to wait for, whenever it ends', async (t) => {
	for (const endsAfter of [1, 2, 3]) {
		const { freeze, contact, track, executionId, advance, pool } = await setupExecutions(t)
		await contact()
		await freeze({ on: 'signed-up', steps: [delayStep(1), mailStep] })
		await track('signed-up')
		const id = await executionId()
		await advance(id)
		let questions = 0
		const db = {
			async query(text: string) {
				const answer = await pool.query(text)
				if (++questions === endsAfter) await advance(id, 2)
				return answer
			},
		}
		const left = await atRest(db as typeof pool, 1000)
		t.true(left.includes('1 mails in the ledger'), `${endsAfter}: ${left.join()}`)
		t.false(left.some((what) => what.includes('executions')))
	}
})
