import type { ExecutionContext } from 'ava'
import { client } from '../../bench/load.ts'
import { prepareStack } from '../../bench/stack.ts'

/** An API, a worker and the local mailbox, in processes of their own. */
export async function runningStack(t: ExecutionContext, env: Record<string, string> = {}) {
	const stack = await prepareStack(
		{
			databaseUrl: process.env['DATABASE_URL']!,
			temporalAddress: process.env['TEMPORAL_ADDRESS']!,
		},
		{ EMAIL_PROVIDER: 'local', ...env },
	)
	t.teardown(stack.stop)
	await Promise.all([stack.api.start(), stack.worker.start()])
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	return { stack, http }
}
