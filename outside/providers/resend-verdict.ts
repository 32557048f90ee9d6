import type { Outcome } from './provider.ts'
import type { PaceAnswer } from './request-pace.ts'
import type { Failure } from './resend-requests.ts'

export interface ResendError {
	name: string
	message: string
	/** Null if there was no answer. */
	statusCode: number | null
}

const HOUR_MS = 3_600_000
/**
 * A quota is renewed within a day or a month, or sooner after an upgrade, so mail is retried now and then.
 */
const QUOTA_PAUSE_MS = new Map([
	['daily_quota_exceeded', HOUR_MS],
	['monthly_quota_exceeded', 6 * HOUR_MS],
])
/** The first try of the same mail is still being answered. */
const CONCURRENT_PAUSE_MS = 2000
/** The longest wait that an answer may ask for, because all mail waits as long. */
const LONGEST_PAUSE_MS = 24 * HOUR_MS

/** Errors about the key or the API's address: every mail would fail. */
const ABOUT_US = new Set([
	'missing_api_key',
	'restricted_api_key',
	'invalid_api_key',
	'invalid_access',
	'not_found',
	'method_not_allowed',
])

/** Translates an error of the SDK for the ledger. */
export function resendVerdict(
	{ name, message, statusCode: status }: ResendError,
	headers: Record<string, string> | null,
	failure: Failure | undefined,
): Outcome {
	if (!status) {
		const error = `No answer from Resend: ${failure?.cause ?? message}`
		if (failure?.isUnsent) return { kind: 'UNAVAILABLE', error, retryAfterMs: null }
		return { kind: 'UNKNOWN', error }
	}
	const error = `${name}: ${message}`
	// Only an earlier try of the same mail or batch can have used its key. Since then, contacts or settings changed.
	if (name === 'invalid_idempotent_request') return { kind: 'SENT', providerMessageId: null }
	const retryAfterMs = retryAfter(headers)
	if (name === 'concurrent_idempotent_requests')
		return { kind: 'DEFERRED', error, retryAfterMs: retryAfterMs ?? CONCURRENT_PAUSE_MS }
	const pause = QUOTA_PAUSE_MS.get(name)
	if (pause) return { kind: 'UNAVAILABLE', error, retryAfterMs: Math.max(pause, retryAfterMs ?? 0) }
	// A 5xx may come after the mail was accepted. Repeating it with the same key is harmless.
	if (status === 408 || status >= 500)
		return { kind: 'UNAVAILABLE', error, retryAfterMs, mayBeTaken: true }
	if (status === 429) return { kind: 'UNAVAILABLE', error, retryAfterMs }
	if (ABOUT_US.has(name) || status === 401 || (status === 403 && !isAboutMail(name)))
		return { kind: 'UNAVAILABLE', error, retryAfterMs }
	return { kind: 'REJECTED', error, bounce: false }
}

/** What an answer says about the request rate; quotas are unrelated to it. */
export function rateAnswer(
	error: ResendError | null,
	headers: Record<string, string> | null,
): PaceAnswer {
	const isRefused = error?.statusCode === 429 && !QUOTA_PAUSE_MS.has(error.name)
	const isUsedUp = headers?.['ratelimit-remaining'] === '0'
	return { isRefused, waitMs: isRefused || isUsedUp ? retryAfter(headers) : null }
}

/** An unverified sender domain also gets a 403. */
const isAboutMail = (name: string) => name === 'validation_error' || name === 'invalid_from_address'

/** Seconds or a date (RFC 9110); otherwise the seconds until Resend's rate window starts again. */
function retryAfter(headers: Record<string, string> | null) {
	const value = headers?.['retry-after'] ?? headers?.['ratelimit-reset']
	if (!value) return null
	const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
	return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_PAUSE_MS)
}
