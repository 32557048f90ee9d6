import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { createTurns } from './turns.ts'

// Long work runs on threads of its own, so that no input blocks the event loop. Only ending its thread can
// stop a task, so a task that exceeds its limit ends with its thread.

/** Pure functions by name. Their arguments and results are cloned between threads. */
// oxlint-disable-next-line typescript/no-explicit-any -- any function fits, and keeps its own types
export type Tasks = Record<string, (input: any) => unknown>

export interface ThreadRun {
	/** The owner of the work: a project's id, or a name for work before the project is known. */
	key: string
	/** Counted from the moment a thread starts the task. */
	limitMs: number
	/** Bytes of the input that are moved, not copied: the caller loses them. */
	transfer?: ArrayBuffer[]
}

export interface Threads<Known extends Tasks> {
	run<Name extends keyof Known & string>(
		task: Name,
		input: Parameters<Known[Name]>[0],
		run: ThreadRun,
	): Promise<Awaited<ReturnType<Known[Name]>>>
	close(): Promise<void>
}

/** The task exceeded its time, or a thread's memory. */
export class TaskTooLarge extends Error {
	override name = 'TaskTooLarge'
}

/** The pool's queue is full. */
export class ThreadsBusy extends Error {
	override name = 'ThreadsBusy'
}

/** The thread ended for a reason unrelated to the task, which may be retried. */
export class ThreadLost extends Error {
	override name = 'ThreadLost'
}

interface Options {
	/** A module that calls `serve` with the tasks. */
	entry: URL
	/** At least two, so that one stays free for keys that have used no thread recently. */
	size?: number
	/** The most tasks that may wait; unlimited where the caller limits them. */
	mostWaiting?: number
	idleMs?: number
	memoryMb?: number
}

interface Job {
	task: string
	input: unknown
	limitMs: number
	transfer: ArrayBuffer[]
	done(value: unknown): void
	fail(error: Error): void
}

export interface Answer {
	value?: unknown
	error?: { name: string; message: string }
}

export function createThreads<Known extends Tasks>({
	entry,
	size = Math.max(2, availableParallelism()),
	mostWaiting = Infinity,
	idleMs = 300_000,
	memoryMb = 512,
}: Options): Threads<Known> {
	const turns = createTurns<Job>(size)
	const idle: { thread: Worker; since: number }[] = []
	const ending = new Set<Promise<unknown>>()
	let running = 0
	let sweeping: NodeJS.Timeout | undefined
	let isClosed = false

	function run(task: string, input: unknown, { key, limitMs, transfer = [] }: ThreadRun) {
		return new Promise<never>((done, fail) => {
			if (isClosed) return fail(new ThreadLost('The threads are closed'))
			if (turns.waiting() >= mostWaiting) return fail(new ThreadsBusy('Too much work is waiting'))
			turns.add(key, { task, input, limitMs, transfer, done: done as Job['done'], fail })
			start()
		})
	}

	function start() {
		while (running < size) {
			const turn = turns.next()
			if (!turn) return
			running += 1
			void work(turn.job).then((usedMs) => {
				running -= 1
				turn.end(usedMs)
				start()
			})
		}
	}

	function open() {
		const thread = new Worker(entry, { resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
		// A thread that fails between two tasks affects no task.
		thread.on('error', () => {})
		thread.on('exit', () => forget(thread))
		return thread
	}

	/** Settles the job and resolves to its duration. Never rejects. */
	async function work(job: Job) {
		const used = idle.pop()?.thread
		// What earlier tasks have left in a thread may be the reason if its memory is not enough.
		const ms = used && (await perform(used, job, job.transfer.length === 0))
		return ms ?? (await perform(open(), job))!
	}

	/** Undefined: the memory was not enough, and the job may run `again`. */
	function perform(thread: Worker, job: Job, again = false) {
		return new Promise<number | undefined>((resolve) => {
			let startedAt = performance.now()
			let timer: NodeJS.Timeout | undefined
			thread.ref()
			thread.on('message', hear)
			thread.on('error', crash)
			thread.on('exit', exit)
			try {
				thread.postMessage({ task: job.task, input: job.input }, job.transfer)
			} catch (error) {
				settle(() => job.fail(error as Error))
				keep(thread)
			}

			function hear(answer: Answer | 'begun') {
				if (answer === 'begun') {
					// A new thread has been loading its modules until now.
					startedAt = performance.now()
					timer = setTimeout(expire, job.limitMs)
					return
				}
				settle(() => (answer.error ? job.fail(errorOf(answer.error)) : job.done(answer.value)))
				keep(thread)
			}

			function expire() {
				settle(() => job.fail(new TaskTooLarge(`It took longer than ${job.limitMs} ms`)))
				end(thread)
			}

			function crash(error: Error & { code?: string }) {
				const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
				if (isMemory && again) return leave()
				settle(() => job.fail(isMemory ? new TaskTooLarge('It took too much memory') : lost(error)))
			}

			function exit() {
				settle(() => job.fail(new ThreadLost('A thread ended in the middle of its work')))
			}

			function settle(done: () => void) {
				leave(performance.now() - startedAt)
				done()
			}

			function leave(ms?: number) {
				clearTimeout(timer)
				thread.off('message', hear)
				thread.off('error', crash)
				thread.off('exit', exit)
				resolve(ms)
			}
		})
	}

	function keep(thread: Worker) {
		if (isClosed) return end(thread)
		thread.unref()
		idle.push({ thread, since: performance.now() })
		sweeping ??= setTimeout(sweep, idleMs).unref()
	}

	/** Ends idle threads. The most recently used one is reused first, so the others can end. */
	function sweep() {
		sweeping = undefined
		const limit = performance.now() - idleMs
		for (const { thread } of idle.filter(({ since }) => since <= limit)) {
			forget(thread)
			end(thread)
		}
		if (idle.length > 0) sweeping = setTimeout(sweep, idleMs).unref()
	}

	function forget(thread: Worker) {
		const at = idle.findIndex((one) => one.thread === thread)
		if (at >= 0) idle.splice(at, 1)
	}

	function end(thread: Worker) {
		const ended = thread.terminate().finally(() => ending.delete(ended))
		ending.add(ended)
	}

	return {
		run,
		async close() {
			isClosed = true
			for (const job of turns.clear()) job.fail(new ThreadLost('The threads are closed'))
			clearTimeout(sweeping)
			for (const { thread } of idle.splice(0)) end(thread)
			while (ending.size > 0) await Promise.all(ending)
		},
	}
}

const lost = (error: Error) => new ThreadLost(`A thread failed: ${error.message}`, { cause: error })

const errorOf = ({ message, ...rest }: NonNullable<Answer['error']>) =>
	Object.assign(new Error(message), rest)
