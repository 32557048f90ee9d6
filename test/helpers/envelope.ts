import type { ExecutionContext } from 'ava'

export const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/

interface Answer {
	statusCode: number
	headers: Record<string, unknown>
	body: string
}

/** Checks that an answer is exactly the specification's error envelope. */
export function isEnvelope(t: ExecutionContext, answer: Answer, status: number, code: string) {
	const body = JSON.parse(answer.body)
	t.is(answer.statusCode, status, answer.body)
	t.deepEqual(Object.keys(body), ['success', 'error', 'timestamp'])
	t.false(body.success)
	t.is(body.error.code, code)
	t.is(body.error.statusCode, status)
	t.truthy(body.error.message)
	t.regex(body.error.requestId, uuid)
	t.is(answer.headers['x-request-id'], body.error.requestId)
	t.is(new Date(body.timestamp).toISOString(), body.timestamp)
	t.deepEqual(
		Object.keys(body.error).filter((key) => !['errors', 'details', 'suggestion'].includes(key)),
		['code', 'message', 'statusCode', 'requestId'],
	)
	return body.error
}
