import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { newNamespace } from '../../bench/namespace.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

export const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url))

let isInstalled = false

/** Temporal says only what is wrong; once a process. */
export function quiet() {
	if (isInstalled) return
	const logging = { filter: 'ERROR' }
	Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } })
	isInstalled = true
}

/**
 * Runs workflows of ours against the real server with scripted activities, on task queues that belong
 * to a namespace of this test alone.
 */
export async function withWorkers<T>(
	activities: object,
	run: (client: Client) => Promise<T>,
): Promise<T> {
	quiet()
	const address = process.env['TEMPORAL_ADDRESS']!
	const namespace = await newNamespace(address)
	const connection = await NativeConnection.connect({ address })
	const client = new Client({ connection: await Connection.connect({ address }), namespace })
	try {
		const workers = await Promise.all([
			Worker.create({
				connection,
				namespace,
				taskQueue: taskQueues.core,
				workflowsPath,
				activities,
			}),
			Worker.create({ connection, namespace, taskQueue: taskQueues.email, activities }),
			Worker.create({ connection, namespace, taskQueue: taskQueues.bulk, activities }),
		])
		const [first, second, third] = workers
		return await first.runUntil(() => second.runUntil(() => third.runUntil(() => run(client))))
	} finally {
		await client.connection.close()
		await connection.close()
	}
}
