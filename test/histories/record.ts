// Records what runs of today's workflows look like, for test/replay.test.ts to hold tomorrow's code to:
// node --import=tsx test/run.ts node --import=tsx test/histories/record.ts
import { writeFile } from 'node:fs/promises'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import type { Rest } from '../../activities/delivery.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { withWorkers } from '../helpers/workflow.ts'

const settled: Rest = { settled: 2, left: 0, waitMs: 0, because: '' }
const waiting: Rest = { settled: 1, left: 2, waitMs: 300, because: 'Connection refused' }
const leaving: Rest = { settled: 1, left: 2, waitMs: 0, because: 'another worker goes on' }

const runs: Record<string, Rest[]> = {
	'send-at-once': [settled],
	'send-after-a-wait': [waiting, waiting, settled],
	'send-handed-on': [leaving, waiting, settled],
}

for (const [name, script] of Object.entries(runs)) {
	const rests = script.values()
	const deliverClaim = async () => rests.next().value
	await withWorkers({ deliverClaim }, async ({ workflow }) => {
		const workflowId = `send/${name}`
		const options = { taskQueue: taskQueues.core, workflowId, args: [{ claimId: name }] }
		await workflow.execute('send', options)
		const history = await workflow.getHandle(workflowId).fetchHistory()
		const file = new URL(`${name}.json`, import.meta.url)
		await writeFile(file, `${historyToJSON(history)}\n`)
		console.log(`${name}: ${history.events!.length} events`)
	})
}
