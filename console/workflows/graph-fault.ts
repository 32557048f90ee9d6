import { TempostError } from '../../client/index.ts'

/** The fields of the API's message begin with ids of steps. The editor marks the same steps, with words. */
export function graphFault(error: unknown, message: string) {
	if (!(error instanceof TempostError) || error.status !== 422) return error
	const { code, requestId } = error
	return new TempostError(code, message, { requestId })
}
