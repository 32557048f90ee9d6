import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Received {
	requests: number
	/** The `webhook-id` of each, once. */
	distinct: number
	firstAt: number
	lastAt: number
}

/** A customer's server as a process of its own, so that its work is not counted as ours. */
export async function startReceiver() {
	const child = spawn(
		process.execPath,
		['--import=tsx', join(import.meta.dirname, 'receiver-process.ts')],
		{
			stdio: ['ignore', 'pipe', 'inherit'],
		},
	)
	const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
	const base = `http://127.0.0.1:${line}`
	const ask = async (path: string, method = 'GET') =>
		(await fetch(`${base}${path}`, { method })).json()
	return {
		url: `${base}/hook`,
		received: () => ask('/received') as Promise<Received>,
		/** The bodies since the last `forget`, with the times of their arrival. */
		bodies: () => ask('/bodies') as Promise<{ at: number; body: string }[]>,
		forget: () => ask('/received', 'DELETE'),
		async close() {
			child.kill()
			await once(child, 'exit')
		},
	}
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
