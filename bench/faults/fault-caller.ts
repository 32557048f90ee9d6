import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, client } from '../load.ts'
import type { Stack } from '../stack.ts'
import type { Load } from './fault-load.ts'

const againMs = 250
/** For each kind of key: together below the number that the API refuses as overload. */
const connections = 40

/**
 * A caller that follows the API's documentation: repeats requests after a 5xx or silence, under one key.
 */
export interface Caller {
	/** The body of a 200; null: refused, or unknown. Without a key the request is made once. */
	post(path: string, key: string | null, body: object): Promise<unknown>
	/** Repeats work until it doesn't throw, or the time is up. */
	insist<T>(work: () => Promise<T>): Promise<T | undefined>
	close(): void
}

export function openCaller(
	stack: Stack,
	{ refusals, oddities }: Load,
	givesUp: () => boolean,
): Caller {
	const http = {
		secret: client(stack.apiUrl, stack.secretKey, connections),
		public: client(stack.apiUrl, stack.publicKey, connections),
	}

	async function post(path: string, firstKey: string | null, body: object) {
		const asker = path === '/v1/track' ? http.public : http.secret
		let key = firstKey
		for (;;) {
			const at = Date.now()
			const answer = await asker.post(path, body, key ? { 'idempotency-key': key } : {})
			if (answer.status === 200) return JSON.parse(answer.body) as unknown
			if (answer.status === 0 || answer.status >= 500)
				refusals.push({ at, what: answer.body.slice(0, 100) || 'no answer' })
			else if (answer.status !== 409 || !key)
				oddities.push(`POST ${path}: ${answer.status} ${answer.body.slice(0, 300)}`)
			if (!key || givesUp()) return null
			if (answer.status === 409) {
				const { originalStatusCode, response } = detailsOf(answer)
				if (response) return response
				// The first try is known to have failed, so the next one is a new request.
				if (originalStatusCode && originalStatusCode >= 500) key += ' again'
			}
			await sleep(againMs)
		}
	}

	return {
		post,
		async insist(work) {
			for (; !givesUp(); await sleep(againMs)) {
				const result = await ask(async () => ({ value: await work() }))
				if (result) return result.value
			}
			return undefined
		},
		close() {
			http.secret.close()
			http.public.close()
		},
	}
}

/** The result, or undefined if it throws: processes are being killed, after all. */
export async function ask<T>(work: () => Promise<T>): Promise<T | undefined> {
	try {
		return await work()
	} catch {
		return undefined
	}
}

function detailsOf({ body }: Answer) {
	const { error } = JSON.parse(body) as {
		error: { details: { originalStatusCode?: number; response?: unknown } }
	}
	return error.details
}
