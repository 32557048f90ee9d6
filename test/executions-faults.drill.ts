import test from 'ava'
import { journeys } from '../bench/automations/automation-drill.ts'
import { killWorker } from '../bench/drill.ts'

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
}

test('a worker killed again and again at every type of step loses, doubles and repeats nothing', async (t) => {
	const count = 60
	const verdict = await journeys(servers, count, 8, (stack) => killWorker(stack, 4, [300, 2500])())
	t.like(verdict, {
		begun: count,
		completed: count,
		stuck: 0,
		doubled: 0,
		lost: 0,
		repeated: 0,
		calls: count,
	})
	t.log(`${verdict.uncertain} mails in doubt`)
})
