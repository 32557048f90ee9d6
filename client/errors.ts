import type { ErrorCode, FieldError } from './api.ts'

/** Codes of faults that the client finds itself. */
export type ClientErrorCode =
	| 'NETWORK_ERROR'
	| 'TIMEOUT'
	| 'UNEXPECTED_ANSWER'
	| 'MISSING_CREDENTIAL'
	| 'INVALID_SIGNATURE'
	| 'JOB_FAILED'
	| 'JOB_CANCELLED'

interface Details {
	/** 0 if the service did not answer. */
	status?: number | undefined
	fields?: FieldError[] | undefined
	requestId?: string | undefined
	suggestion?: string | undefined
	details?: Record<string, unknown> | undefined
	retryAfterSeconds?: number | undefined
	cause?: unknown
}

/** Everything that goes wrong, except the abort of a caller's own signal. */
export class TempostError extends Error {
	override name = 'TempostError'
	/** For programs. Messages may change. */
	code: ErrorCode | ClientErrorCode
	status: number
	/** The wrong fields of a request that failed validation. */
	fields: FieldError[]
	/** Identifies the request in the service's logs. */
	requestId: string | undefined
	/** One sentence that says what to do. */
	suggestion: string | undefined
	details: Record<string, unknown>
	retryAfterSeconds: number | undefined

	constructor(code: ErrorCode | ClientErrorCode, message: string, more: Details = {}) {
		super(message, 'cause' in more ? { cause: more.cause } : undefined)
		this.code = code
		this.status = more.status ?? 0
		this.fields = more.fields ?? []
		this.requestId = more.requestId
		this.suggestion = more.suggestion
		this.details = more.details ?? {}
		this.retryAfterSeconds = more.retryAfterSeconds
	}
}

type Refusal = Omit<Details, 'fields'> & { code: ErrorCode; message: string; errors?: FieldError[] }

/** The error that an answer carries. The answers of a proxy or of another service have no code of ours. */
export function errorOf(response: Response, text: string) {
	const { status, headers } = response
	const seconds = Number(headers.get('retry-after') ?? NaN)
	const common = {
		status,
		requestId: headers.get('x-request-id') ?? undefined,
		retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
	}
	const error = parsed(text)?.error
	if (status === 400 && typeof error === 'string')
		return new TempostError('BAD_REQUEST', error, common)
	if (!isRefusal(error))
		return new TempostError(
			'UNEXPECTED_ANSWER',
			`The service answered with status ${status}`,
			common,
		)
	const { code, message, errors: fields, ...more } = error
	return new TempostError(code, message, { ...common, ...more, fields, status })
}

function isRefusal(error: unknown): error is Refusal {
	const { code, message } = Object(error) as Partial<Refusal>
	return typeof code === 'string' && typeof message === 'string'
}

/** Undefined: not JSON. */
export function parsed(text: string): { error?: unknown } | undefined {
	try {
		return Object(JSON.parse(text)) as { error?: unknown }
	} catch {
		return undefined
	}
}
