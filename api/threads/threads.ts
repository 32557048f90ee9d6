import { createThreads } from '../../mail/threads/pool.ts'
import type { ApiTasks } from './tasks.ts'

/** One pool of threads per process. They start on demand and end when idle. */
export const threads = createThreads<ApiTasks>({
	entry: new URL('./entry.ts', import.meta.url),
	mostWaiting: 200,
	// The largest mail is in memory several times: as JSON, as text, rendered, and as JSON again.
	memoryMb: 1024,
})
