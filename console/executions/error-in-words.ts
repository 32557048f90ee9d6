import { networkInWords } from '../webhooks/outcome.ts'

/** `WebhookFailed: ECONNREFUSED` says nothing to most readers. */
export function errorInWords(error: string) {
	const problem = /^WebhookFailed: (.+)$/s.exec(error)?.[1]
	return problem === undefined ? error : networkInWords(problem)
}
