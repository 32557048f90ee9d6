import { join } from 'node:path'
import { Client, Connection } from '@temporalio/client'
import {
	DefaultLogger,
	NativeConnection,
	Runtime,
	Worker,
	type WorkflowBundleOption,
} from '@temporalio/worker'
import { bundleNames, bundleWorkflows } from '../../activities/workflow-bundle.ts'
import { newNamespace } from '../../bench/namespace.ts'
import { buildFolder, isFresh } from '../../build/freshness.ts'
import { taskQueues } from '../../workflows/task-queues.ts'

const bundles: Record<string, Promise<WorkflowBundleOption>> = {}

/** Workflows as one file: from the build of these sources, else made once for a process. */
export const workflowBundle = (kind: keyof typeof bundleNames = 'plain') =>
	(bundles[kind] ??= isFresh()
		? Promise.resolve({ codePath: join(buildFolder(), 'workflows', bundleNames[kind]) })
		: bundleWorkflows(kind))

let isInstalled = false

/** Reduces Temporal's log to errors; once per process. */
export function quiet() {
	if (isInstalled) return
	const logging = { filter: 'ERROR' }
	Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } })
	isInstalled = true
}

/**
 * Runs our workflows on the real server with scripted activities, on task queues in a namespace of this
 * test alone. The second client is on the connection of the workers.
 */
export async function withWorkers<T>(
	activities: object,
	run: (client: Client, workersClient: Client) => Promise<T>,
	emailSlots = 100,
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
				workflowBundle: await workflowBundle(),
				activities,
			}),
			Worker.create({
				connection,
				namespace,
				taskQueue: taskQueues.email,
				activities,
				maxConcurrentActivityTaskExecutions: emailSlots,
			}),
			Worker.create({ connection, namespace, taskQueue: taskQueues.bulk, activities }),
			Worker.create({ connection, namespace, taskQueue: taskQueues.moves, activities }),
			Worker.create({ connection, namespace, taskQueue: taskQueues.webhooks, activities }),
			Worker.create({ connection, namespace, taskQueue: taskQueues.calls, activities }),
		])
		const runAll = workers.reduce(
			(inner, worker) => () => worker.runUntil(inner),
			() => run(client, new Client({ connection, namespace })),
		)
		return await runAll()
	} finally {
		await client.connection.close()
		await connection.close()
	}
}
