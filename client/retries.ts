import type { TempostError } from './errors.ts'

/** A service that asks for more patience than this is not waited for. */
const longestWaitSeconds = 60
const firstWaitMs = 250
const longestWaitMs = 8000

/** How long to wait before the request is repeated; undefined if it must not be. */
export function waitBeforeRetry(error: TempostError, isRepeatable: boolean, attempt: number) {
	if (!mayRepeat(error, isRepeatable)) return undefined
	const { retryAfterSeconds } = error
	if (retryAfterSeconds === undefined)
		return Math.min(firstWaitMs * 2 ** attempt, longestWaitMs) * (0.5 + Math.random())
	if (retryAfterSeconds > longestWaitSeconds) return undefined
	// Clients that were refused together should not return together.
	return retryAfterSeconds * 1000 + Math.random() * firstWaitMs
}

function mayRepeat(error: TempostError, isRepeatable: boolean) {
	// The limit is checked before anything is done.
	if (error.code === 'RATE_LIMIT_EXCEEDED') return true
	return isRepeatable && (isAway(error) || [502, 503, 504].includes(error.status))
}

const isAway = ({ code }: TempostError) => code === 'NETWORK_ERROR' || code === 'TIMEOUT'

const original = ({ code, details }: TempostError) =>
	code === 'IDEMPOTENCY_KEY_REUSED' ? details : undefined

/** A key is free again a minute after the process of its request has died. */
export const longestInProgressMs = 65_000
const askAgainMs = 2000

/** How long to wait before a request is asked for again that is still in progress; undefined if it is not. */
export const waitWhileInProgress = (error: TempostError) =>
	isInProgress(error) ? askAgainMs * (0.5 + Math.random()) : undefined

/** Another request with this key has not ended yet. */
const isInProgress = (error: TempostError) => {
	const details = original(error)
	return details !== undefined && details['originalStatusCode'] === undefined
}

/** The request that used this key first ended with a fault, and changed nothing. */
export const hasFailed = (error: TempostError) =>
	Number(original(error)?.['originalStatusCode']) >= 500

/** The answer to the first request with this key, if that was the same kind of request. */
export function firstAnswer(error: TempostError, route: string) {
	const details = original(error)
	if (!details || Number(details['originalStatusCode']) >= 300) return undefined
	const { originalRequest, response } = details
	const isSame = String(originalRequest).replaceAll(/:(\w+)/g, '{$1}') === route
	return isSame && response !== undefined ? { response } : undefined
}

/** How many keys of one request may have failed, in this call and in earlier ones. */
export const mostFailedKeys = 100

/** A longer key leaves too little room for a number: keys have at most 255 characters. */
const longestNumberedKey = 240

/**
 * The key for repeating a request after so many keys have failed. It follows from the first key and their number
 * alone, so that a caller who begins again with the first key, even in another process, finds the repeated request.
 */
export async function nextKey(firstKey: string, failedKeys: number) {
	const stem = firstKey.length > longestNumberedKey ? await digestOf(firstKey) : firstKey
	return `${stem} (${failedKeys + 1})`
}

async function digestOf(key: string) {
	const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key))
	return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function sleep(ms: number, signal?: AbortSignal) {
	return new Promise<void>((resolve, reject) => {
		signal?.throwIfAborted()
		const aborted = () => {
			clearTimeout(timer)
			reject(signal!.reason as Error)
		}
		const timer = setTimeout(() => {
			signal?.removeEventListener('abort', aborted)
			resolve()
		}, ms)
		signal?.addEventListener('abort', aborted, { once: true })
	})
}
