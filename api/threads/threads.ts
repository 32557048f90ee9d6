import { createThreads } from '../../mail/threads/pool.ts'
import type { ApiTasks } from './tasks.ts'

/** One set of threads a process: they are started when something needs them, and end without work. */
export const threads = createThreads<ApiTasks>({
	entry: new URL('./entry.ts', import.meta.url),
	mostWaiting: 200,
	// The largest mail is there several times: as JSON, as text, rendered and as JSON again.
	memoryMb: 1024,
})
