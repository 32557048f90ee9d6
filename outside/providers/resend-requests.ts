import { subscribe, unsubscribe } from 'node:diagnostics_channel'

export interface Failure {
	cause: string
	/** The connection was never made, so Resend can't have accepted the mail. */
	isUnsent: boolean
}

interface UndiciEvent {
	request: { headers: unknown }
	error?: Error & { code?: string | number }
}

/**
 * The SDK reports every request without an answer as «unable to fetch». Node's diagnostic channels for
 * fetch tell the cause, and whether the request was sent. Without that, an hour without network would
 * leave an hour of mail in doubt.
 */
export function requestWatch() {
	const pending = new Map<string, { isSent: boolean; cause: string | null }>()

	// The channels report all requests of the process; ours are recognised by their key.
	function find(event: unknown) {
		const { request, error } = event as UndiciEvent // undici's documented shape
		const headers: unknown[] = Array.isArray(request.headers) ? request.headers : []
		const at = headers.findIndex((name) => String(name).toLowerCase() === 'idempotency-key')
		return { entry: pending.get(String(headers[at + 1])), error }
	}
	function onSent(event: unknown) {
		const { entry } = find(event)
		if (entry) entry.isSent = true
	}
	function onError(event: unknown) {
		const { entry, error } = find(event)
		if (entry && error) entry.cause = error.message || String(error.code)
	}
	subscribe('undici:client:sendHeaders', onSent)
	subscribe('undici:request:error', onError)

	return {
		async watch<T>(key: string, call: () => Promise<T>): Promise<{ value: T; failure?: Failure }> {
			const entry = { isSent: false, cause: null as string | null }
			pending.set(key, entry)
			try {
				const value = await call()
				// Without a report from the channels, nothing is assumed.
				if (entry.cause === null) return { value }
				return { value, failure: { cause: entry.cause, isUnsent: !entry.isSent } }
			} finally {
				pending.delete(key)
			}
		},
		end() {
			unsubscribe('undici:client:sendHeaders', onSent)
			unsubscribe('undici:request:error', onError)
		},
	}
}
