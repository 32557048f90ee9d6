import { setImmediate as nextTurn } from 'node:timers/promises'
import { isMainThread } from 'node:worker_threads'
import { createThreads } from './threads/pool.ts'
import { bufferOf } from './threads/buffer-of.ts'
import type { DkimKey } from './mime/dkim.ts'
import type { Variables } from './liquid/look-up.ts'
import type { Message } from './message.ts'
import { briefly, Overrun } from './render-limits.ts'
import { type RenderingTasks, renderingTasks } from './rendering-tasks.ts'

/** Far above the duration of any rendering that stays within its limits. The work after it is linear. */
const limitMs = 20_000

/** After this time in one turn of the event loop no attempt begins. */
const mostMsInTurn = 6
/** Campaigns leave the rest to other mail, which need not wait behind hundreds of theirs. */
export const mostMsOfCampaigns = 2
let usedMs = 0

// One pool of threads per process. They start on demand and end when idle.
const threads = createThreads<RenderingTasks>({
	entry: new URL('./rendering-thread.ts', import.meta.url),
})

type Input<Task extends keyof RenderingTasks> = Parameters<RenderingTasks[Task]>[0]
type Output<Task extends keyof RenderingTasks> = Awaited<ReturnType<RenderingTasks[Task]>>

/**
 * Performs a rendering task: at once if it is short, as almost all are, else on a thread. There a
 * project's long tasks wait for each other and delay no other project.
 */
export async function perform<Task extends keyof RenderingTasks>(
	projectId: string,
	task: Task,
	input: Input<Task>,
): Promise<Output<Task>> {
	const done = await attempt(task, input)
	return done ? done.value : performOnThread(projectId, task, input)
}

/** The result of a short task, or undefined if the task is not short. It waits for a turn with less than `mostMs` used. */
export async function attempt<Task extends keyof RenderingTasks>(
	task: Task,
	input: Input<Task>,
	mostMs = mostMsInTurn,
) {
	// A thread has no event loop to keep responsive.
	if (!isMainThread) return { value: done(task, input) }
	return inTurn(mostMs, () => {
		try {
			return { value: briefly(() => done(task, input)) }
		} catch (error) {
			if (error instanceof Overrun) return undefined
			throw error
		}
	})
}

/** Does something in a turn of the event loop with at most `mostMs` used, and adds its own time to them. */
async function inTurn<Result>(mostMs: number, work: () => Result) {
	while (usedMs > mostMs) await nextTurn()
	if (usedMs === 0) setImmediate(() => (usedMs = 0))
	const beganAt = performance.now()
	try {
		return work()
	} finally {
		usedMs += performance.now() - beganAt
	}
}

const done = <Task extends keyof RenderingTasks>(task: Task, input: Input<Task>) =>
	renderingTasks[task](input as never) as Output<Task>

/**
 * A large text takes milliseconds on its way to the thread and back, and so does a thread that starts: each way
 * has a turn of the event loop.
 */
export async function performOnThread<Task extends keyof RenderingTasks>(
	projectId: string,
	task: Task,
	input: Input<Task>,
): Promise<Output<Task>> {
	await nextTurn()
	const output = await inTurn(0, () => threads.run(task, input, { key: projectId, limitMs }))
	await nextTurn()
	return output
}

/** A mail in its wire format, signed if there is a key. */
export async function wireOf(message: Message, dkim?: DkimKey): Promise<Buffer> {
	const raw = await perform(message.projectId, 'mime', { message, dkim })
	return bufferOf(raw)
}

/** Renders text outside of mails: neither escaped nor reduced to one line. */
export async function renderText(projectId: string, text: string, variables: Variables) {
	return (await perform(projectId, 'deep', { value: text, variables })) as string
}
