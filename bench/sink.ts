import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Fault } from '../test/helpers/smtp-sink.ts'

export interface SinkStatistics {
	accepted: number
	connections: number
	/** When the first and the last mail were accepted; 0 if there was none. */
	firstAt: number
	lastAt: number
}

export interface SinkProcess {
	url: string
	pid: number
	statistics(): Promise<SinkStatistics>
	/** How many different mails were accepted. */
	distinct(): Promise<number>
	/** Without the first `after` mails. */
	mails(after?: number): Promise<{ emailId: string; to: string; at: number }[]>
	faults(faults: Fault[]): Promise<void>
	/** Drops all connections, and accepts none until `start`. */
	stop(): Promise<void>
	start(): Promise<void>
	forget(): Promise<void>
	close(): Promise<void>
}

/** The SMTP sink as a process of its own, so that its work is not counted as ours. */
export async function startSink(options: string[] = []): Promise<SinkProcess> {
	const entry = join(import.meta.dirname, '../test/helpers/smtp-sink.ts')
	const child = spawn(process.execPath, ['--import=tsx', entry, ...options], {
		stdio: ['ignore', 'pipe', 'inherit'],
	})
	const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
	const { port, control } = JSON.parse(line) as { port: number; control: number }
	const ask = async (path: string, init?: RequestInit) =>
		(await fetch(`http://127.0.0.1:${control}${path}`, init)).json()
	return {
		url: `smtp://127.0.0.1:${port}`,
		pid: child.pid!,
		statistics: () => ask('/statistics') as Promise<SinkStatistics>,
		distinct: () => ask('/distinct') as Promise<number>,
		mails: (after = 0) => ask(`/mails?after=${after}`) as ReturnType<SinkProcess['mails']>,
		faults: async (faults) =>
			void (await ask('/faults', { method: 'POST', body: JSON.stringify(faults) })),
		stop: async () => void (await ask('/stop', { method: 'POST' })),
		start: async () => void (await ask('/start', { method: 'POST' })),
		forget: async () => void (await ask('/mails', { method: 'DELETE' })),
		async close() {
			child.kill()
			await once(child, 'exit')
		},
	}
}
