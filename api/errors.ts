export const fieldCodes = [
	'required',
	'invalid_type',
	'invalid_string',
	'too_small',
	'too_big',
	'invalid_enum_value',
	'unrecognized_keys',
	'invalid_union',
	'custom',
	'reserved_event',
	'template_syntax',
] as const

/** All error codes. New ones are added here, so that generated clients know them. */
export const errorCodes = [
	'BAD_REQUEST',
	'VALIDATION_ERROR',
	'INVALID_API_KEY',
	'UNAUTHORIZED',
	'INVALID_CREDENTIALS',
	'FORBIDDEN',
	'PROJECT_DISABLED',
	'PROJECT_ACCESS_DENIED',
	'EMAIL_VERIFICATION_REQUIRED',
	'RESOURCE_NOT_FOUND',
	'CONTACT_NOT_FOUND',
	'TEMPLATE_NOT_FOUND',
	'CAMPAIGN_NOT_FOUND',
	'WORKFLOW_NOT_FOUND',
	'CONFLICT',
	'IDEMPOTENCY_KEY_REUSED',
	'RATE_LIMIT_EXCEEDED',
	'BILLING_LIMIT_EXCEEDED',
	'INTERNAL_SERVER_ERROR',
	'DATABASE_ERROR',
	'EXTERNAL_SERVICE_ERROR',
] as const
export type ErrorCode = (typeof errorCodes)[number]

export interface FieldError {
	/** Dots separate the parts of a path: `attachments.0.content`. */
	field: string
	message: string
	code: (typeof fieldCodes)[number]
	received?: unknown
	/** Where a template cannot be read. Both start at 1. */
	line?: number
	column?: number
}

interface Extras {
	errors?: FieldError[]
	details?: Record<string, unknown>
	suggestion?: string
	/** Becomes the header Retry-After. */
	retryAfterSeconds?: number
	cause?: unknown
}

/** An error whose code and message are meant for the caller. */
export class ApiError extends Error {
	status: number
	code: ErrorCode
	extras: Extras

	constructor(status: number, code: ErrorCode, message: string, extras: Extras = {}) {
		super(message, { cause: extras.cause })
		this.status = status
		this.code = code
		this.extras = extras
	}
}

/** 422 with the wrong fields, for rules that a schema can't express. */
export function invalid(...errors: FieldError[]) {
	const [first] = errors
	const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
	const message = first ? `${first.field || 'The body'} ${first.message}${more}` : 'Invalid request'
	return new ApiError(422, 'VALIDATION_ERROR', message, { errors })
}

/** The process has too much to do. Nothing was done. */
export const overloaded = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'The service is overloaded at the moment', {
		retryAfterSeconds: 1,
		suggestion: 'Nothing was done. Send the request again in a moment.',
	})

/** The database has too much to do for this read. Nothing was done. */
export const tooMuchToRead = (message: string, suggestion: string) =>
	new ApiError(503, 'DATABASE_ERROR', message, { retryAfterSeconds: 5, suggestion })

export const searchTooSlow = () =>
	tooMuchToRead('This search takes too long', 'Search for more characters of the address.')

const resourceCodes: Record<string, ErrorCode> = {
	contact: 'CONTACT_NOT_FOUND',
	template: 'TEMPLATE_NOT_FOUND',
	campaign: 'CAMPAIGN_NOT_FOUND',
	workflow: 'WORKFLOW_NOT_FOUND',
}

/** The same answer for what does not exist and what belongs to another project. */
export function notFound(resource: string, id: unknown) {
	const code = resourceCodes[resource] ?? 'RESOURCE_NOT_FOUND'
	return new ApiError(404, code, `There is no such ${resource}`, { details: { resource, id } })
}

/** The specification's error body; absent members are left out. */
export function envelope(error: ApiError, requestId: string) {
	const { errors, details, suggestion } = error.extras
	return {
		success: false,
		error: {
			code: error.code,
			message: error.message,
			statusCode: error.status,
			requestId,
			errors,
			details,
			suggestion,
		},
		timestamp: new Date().toISOString(),
	}
}
