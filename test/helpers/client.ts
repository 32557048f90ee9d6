import type { ExecutionContext } from 'ava'
import type { AddressInfo } from 'node:net'
import { Tempost, TempostError, type TempostOptions } from '../../client/index.ts'
import { setupSend } from './send.ts'

type Fetch = typeof globalThis.fetch
/** Does one try of a request in another way. */
export type Fault = (real: () => Promise<Response>) => Promise<Response>

export const faults = {
	refused: async () => {
		throw new TypeError('fetch failed')
	},
	/** The service has done its work, and the answer is lost on the way. */
	lost: async (real) => {
		await real()
		throw new TypeError('terminated')
	},
	never: async () => new Promise<Response>(() => {}),
	gateway: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
	none: (real) => real(),
} satisfies Record<string, Fault>

/** The refusal of an API that is overloaded, or whose caller asks too often. */
export const refusal =
	(status: number, code: string, retryAfter?: string): Fault =>
	async () =>
		Response.json(
			{ success: false, error: { code, message: 'Not now', statusCode: status, requestId: 'r' } },
			{ status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } },
		)

/** A client of a real API over HTTP. Each try of a request may have a fault. */
export async function setupClient(
	t: ExecutionContext,
	options: Parameters<typeof setupSend>[1] = {},
) {
	const all = await setupSend(t, options)
	await all.app.listen({ port: 0, host: '127.0.0.1' })
	const url = `http://127.0.0.1:${(all.app.server.address() as AddressInfo).port}`
	const planned: Fault[] = []
	const tries: { method: string; path: string; key: string | null }[] = []
	const faulty: Fetch = async (target, init) => {
		const request = new Request(target, init)
		const key = request.headers.get('idempotency-key')
		tries.push({ method: request.method, path: new URL(request.url).pathname, key })
		init?.signal?.throwIfAborted()
		const fault = planned.shift() ?? faults.none
		const aborted = new Promise<never>((_, fail) => {
			init?.signal?.addEventListener('abort', () => fail(init.signal!.reason as Error))
		})
		return Promise.race([fault(() => fetch(target, init)), aborted])
	}
	const { secretKey, publicKey } = all
	const clientOf = (more: TempostOptions = {}) =>
		new Tempost({ url, secretKey, publicKey, fetch: faulty, ...more })
	const plan = (...next: Fault[]) => void planned.push(...next)
	return { ...all, url, tempost: clientOf(), clientOf, plan, tries }
}

/** The error of a call that is expected to fail. */
export const errorOf = async (promise: PromiseLike<unknown>) => {
	try {
		await promise
	} catch (error) {
		if (error instanceof TempostError) return error
		throw error
	}
	throw new Error('There was no error')
}
