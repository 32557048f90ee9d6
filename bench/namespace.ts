import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '@temporalio/client'
import { msToTs } from '@temporalio/common/lib/time.js'
import { attributeTypes, searchAttributes } from '../db/outbox/search-attributes.ts'

const workflowTasks = 1

/**
 * A separate namespace on a shared server: task queues have the same names everywhere, and a worker must
 * not take another database's work.
 */
export async function newNamespace(
	address: string,
	attributes: string[] = Object.keys(searchAttributes),
): Promise<string> {
	const connection = await Connection.connect({ address })
	const namespace = `run-${randomUUID()}`
	try {
		await connection.workflowService.registerNamespace({
			namespace,
			workflowExecutionRetentionPeriod: msToTs('1 day'),
		})
		// The parts of the server learn of it with a delay.
		await patiently(() =>
			connection.operatorService.addSearchAttributes({
				namespace,
				searchAttributes: Object.fromEntries(
					Object.entries(searchAttributes)
						.filter(([name]) => attributes.includes(name))
						.map(([name, type]) => [name, attributeTypes[type]]),
				),
			}),
		)
		await patiently(() =>
			connection.workflowService.describeTaskQueue({
				namespace,
				taskQueue: { name: 'core' },
				taskQueueType: workflowTasks,
			}),
		)
		return namespace
	} finally {
		await connection.close()
	}
}

async function patiently(ask: () => Promise<unknown>) {
	for (let attempt = 1; ; attempt++)
		try {
			return await ask()
		} catch (error) {
			if (attempt === 200) throw error
			await sleep(100)
		}
}
