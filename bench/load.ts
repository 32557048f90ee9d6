import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'

export interface Answer {
	status: number
	body: string
	/** 0 if there was no answer. */
	ms: number
}

/** A client with persistent connections. It is minimal, so that it costs less than what it measures. */
export function client(baseUrl: string, secretKey: string, connections: number) {
	const { hostname, port } = new URL(baseUrl)
	const agent = new Agent({
		keepAlive: true,
		maxSockets: connections,
		maxFreeSockets: connections,
	})
	const ask = (
		method: 'GET' | 'POST',
		path: string,
		payload: string,
		headers: Record<string, string | number>,
	) =>
		new Promise<Answer>((resolve) => {
			const startedAt = performance.now()
			const ended = (status: number, text: string) =>
				resolve({ status, body: text, ms: performance.now() - startedAt })
			request(
				{
					agent,
					hostname,
					port,
					path,
					method,
					headers: { authorization: `Bearer ${secretKey}`, ...headers },
				},
				(response) => {
					let text = ''
					response.setEncoding('utf8')
					response.on('data', (chunk: string) => (text += chunk))
					response.on('end', () => ended(response.statusCode ?? 0, text))
					response.on('error', () => ended(0, text))
				},
			)
				.on('error', (error) => ended(0, String(error)))
				.end(payload)
		})
	return {
		get: (path: string, headers: Record<string, string> = {}) => ask('GET', path, '', headers),
		post(path: string, body: object, headers: Record<string, string> = {}) {
			const payload = JSON.stringify(body)
			return ask('POST', path, payload, {
				'content-type': 'application/json',
				'content-length': Buffer.byteLength(payload),
				...headers,
			})
		},
		close: () => agent.destroy(),
	}
}

/** Repeats work on this many lanes, until `more` returns false. */
export const lanes = (count: number, more: () => boolean, work: () => Promise<unknown>) =>
	Promise.all(
		Array.from({ length: count }, async () => {
			while (more()) await work()
		}),
	)

/** The rate of some work per second, on this many lanes. */
export async function rateOf(count: number, forMs: number, work: () => Promise<unknown>) {
	const startedAt = performance.now()
	let done = 0
	await lanes(
		count,
		() => performance.now() < startedAt + forMs,
		async () => {
			await work()
			done += 1
		},
	)
	return (done / (performance.now() - startedAt)) * 1000
}

/** Requests on this many connections, in rounds. The rate and the p99 are medians over the rounds. */
export async function underLoad(
	{ connections, rounds, roundMs }: { connections: number; rounds: number; roundMs: number },
	call: () => Promise<Answer>,
) {
	const rates: number[] = []
	const p99s: number[] = []
	let failures = 0
	for (let round = 0; round < rounds; round++) {
		const taken: number[] = []
		rates.push(
			await rateOf(connections, roundMs, async () => {
				const { status, ms } = await call()
				taken.push(ms)
				if (status !== 200) failures += 1
			}),
		)
		p99s.push(percentile(taken, 0.99))
	}
	return { rate: median(rates), p99: median(p99s), failures }
}

export function percentile(values: number[], share: number) {
	const sorted = values.toSorted((a, b) => a - b)
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: number[]) => percentile(values, 0.5)

/** Waits until something is true, up to a time limit. */
export async function until(isTrue: () => Promise<boolean>, timeoutMs: number, everyMs = 50) {
	for (const deadline = Date.now() + timeoutMs; Date.now() < deadline;) {
		if (await isTrue()) return true
		await new Promise((resolve) => setTimeout(resolve, everyMs))
	}
	return false
}
