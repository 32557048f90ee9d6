import { networkInWords } from '../webhooks/outcome.ts'

/** `WebhookFailed: ECONNREFUSED` says nothing to most readers. */
export function errorInWords(error: string) {
	const problem = /^(?:[A-Z][a-z]+){2}: (.+)$/s.exec(error)?.[1]
	if (problem === undefined) return error
	const words = networkInWords(problem)
	return words.charAt(0).toUpperCase() + words.slice(1)
}
