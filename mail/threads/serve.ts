import { parentPort } from 'node:worker_threads'
import { ownBuffer } from './buffer-of.ts'
import type { Answer, Tasks } from './pool.ts'

/** Makes this thread perform tasks, one after the other, until its pool ends it. */
export function serve(tasks: Tasks) {
	const port = parentPort!
	port.on('message', ({ task, input }: { task: string; input: unknown }) => {
		port.postMessage('begun')
		void perform(task, input)
	})

	async function perform(task: string, input: unknown) {
		let answer: Answer
		try {
			answer = { value: await tasks[task]!(input) }
		} catch (error) {
			answer = { error: plain(error) }
		}
		port.postMessage(answer, buffersOf(answer.value))
	}
}

/** A clone of an error would lose its name and the members of its class. */
const plain = (error: unknown) =>
	error instanceof Error
		? Object.assign({}, error, { name: error.name, message: error.message })
		: { name: 'Error', message: String(error) }

/** Byte arrays at the top of a result are moved, not copied. */
function buffersOf(value: unknown): ArrayBuffer[] {
	if (typeof value !== 'object' || value === null) return []
	// `Object.values` of a byte array would list all its numbers.
	const parts: unknown[] = value instanceof Uint8Array ? [value] : Object.values(value)
	return parts.flatMap((part) => (part instanceof Uint8Array ? ownBuffer(part) : []))
}
