import type { Page } from 'playwright-core'

interface TraceEvent {
	name: string
	pid: number
	tid: number
	/** µs; `tdur` is the CPU time of the thread. */
	ts: number
	tdur?: number
}

interface Task {
	at: number
	cpuMs: number
}

/** The tasks of the page's main thread during the work. Their CPU time excludes the machine's other work. */
export async function tasksDuring(page: Page, work: () => Promise<unknown>): Promise<Task[]> {
	const session = await page.context().newCDPSession(page)
	const events: TraceEvent[] = []
	session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as never[])))
	const isComplete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve))
	const includedCategories = ['blink.user_timing', 'disabled-by-default-devtools.timeline']
	await session.send('Tracing.start', {
		transferMode: 'ReportEvents',
		traceConfig: { includedCategories },
	})
	await page.evaluate(`performance.mark('work begins')`)
	await work()
	await session.send('Tracing.end')
	await isComplete
	await session.detach()
	const { pid, tid } = events.find(({ name }) => name === 'work begins')!
	return events
		.filter((event) => event.name === 'RunTask' && event.pid === pid && event.tid === tid)
		.map(({ ts, tdur = 0 }) => ({ at: ts / 1000, cpuMs: tdur / 1000 }))
		.toSorted((one, other) => one.at - other.at)
}

const frameMs = 1000 / 60

/** How many frames the tasks leave, at least, to any second: a task that takes longer than a frame costs what is beyond it. */
export function fewestFrames(tasks: Task[]) {
	const lost = tasks.map(({ at }) =>
		tasks
			.filter((task) => task.at >= at && task.at < at + 1000)
			.reduce((sum, { cpuMs }) => sum + Math.max(0, cpuMs - frameMs), 0),
	)
	return Math.floor((1000 - Math.max(0, ...lost)) / frameMs)
}
