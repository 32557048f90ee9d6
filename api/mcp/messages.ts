import { ApiError } from '../errors.ts'
import { hasMoreValues } from '../requests/value-count.ts'

/** No message of the protocol has as many values beside a tool's arguments. */
const mostValues = 1000

/**
 * A message of the protocol, and apart from it the arguments of the tool that it calls. The SDK copies and checks every
 * member of what it gets more than once, and the tool checks its arguments itself.
 */
export function withoutArguments(body: unknown): { message: unknown; given: object } {
	const { params } = isRecord(body) ? body : {}
	const given = isRecord(params) ? params['arguments'] : undefined
	const message = isRecord(given)
		? { ...(body as object), params: { ...(params as object), arguments: {} } }
		: body
	if (hasMoreValues(message, mostValues)) throw tooManyValues()
	return { message, given: isRecord(given) ? given : {} }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value)

const tooManyValues = () =>
	new ApiError(400, 'BAD_REQUEST', 'This message has more values than the protocol knows', {
		suggestion: 'Put the input of a tool into params.arguments, and nothing else beside it.',
	})
