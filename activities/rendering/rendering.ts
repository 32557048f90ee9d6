import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { createThreads } from '../../mail/threads/pool.ts'
import { bufferOf } from '../../mail/threads/buffer-of.ts'
import type { DkimKey } from './dkim.ts'
import type { Variables } from './look-up.ts'
import type { Message } from './message.ts'
import { briefly, Overrun } from './render-limits.ts'
import { type RenderingTasks, renderingTasks } from './rendering-tasks.ts'

/** Far more than any rendering takes that ends by its own limits; the work behind it is linear. */
const limitMs = 20_000

/** Several attempts may meet in one turn of the event loop: so much of it is theirs together. */
const mostMsInTurn = 6
let usedMs = 0

// One set of threads a process: they are started when something needs them, and end without work.
const threads = createThreads<RenderingTasks>({
	entry: new URL('./rendering-thread.ts', import.meta.url),
})

type Input<Task extends keyof RenderingTasks> = Parameters<RenderingTasks[Task]>[0]
type Output<Task extends keyof RenderingTasks> = Awaited<ReturnType<RenderingTasks[Task]>>

/**
 * Performs a task of rendering: at once if it is brief, as nearly all are, else on a thread, where a
 * project's long ones wait for each other and hold up nobody else.
 */
export async function perform<Task extends keyof RenderingTasks>(
	projectId: string,
	task: Task,
	input: Input<Task>,
): Promise<Output<Task>> {
	const done = await attempt(task, input)
	return done ? done.value : performOnThread(projectId, task, input)
}

/** The result of a brief task, or undefined where it is none. */
export async function attempt<Task extends keyof RenderingTasks>(task: Task, input: Input<Task>) {
	const work = () => renderingTasks[task](input as never) as Output<Task>
	// A thread has no event loop to keep free.
	if (!isMainThread) return { value: work() }
	while (usedMs > mostMsInTurn) await nextTurn()
	if (usedMs === 0) setImmediate(() => (usedMs = 0))
	const beganAt = performance.now()
	try {
		return { value: briefly(work) }
	} catch (error) {
		if (error instanceof Overrun) return undefined
		throw error
	} finally {
		usedMs += performance.now() - beganAt
	}
}

export const performOnThread = <Task extends keyof RenderingTasks>(
	projectId: string,
	task: Task,
	input: Input<Task>,
): Promise<Output<Task>> => threads.run(task, input, { key: projectId, limitMs })

/** A mail as it goes over the wire, signed where there is a key. */
export async function wireOf(message: Message, dkim?: DkimKey): Promise<Buffer> {
	const raw = await perform(message.projectId, 'mime', { message, dkim })
	return bufferOf(raw)
}

/** A text that is no mail: neither escaped nor brought into one line. */
export async function renderText(projectId: string, text: string, variables: Variables) {
	return (await perform(projectId, 'deep', { value: text, variables })) as string
}
