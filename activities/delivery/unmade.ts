import { isUnusableKey } from '../../mail/mime/dkim.ts'
import { ThreadLost } from '../../mail/threads/pool.ts'
import type { Outcome } from '../../outside/providers/provider.ts'
import { isNotLoaded } from './large-mail-tasks.ts'

/** The mail waits until the template of its campaign is fixed. */
export class TemplateTooSlow extends Error {
	override message = 'The template of this campaign takes too long'
}

/** The outcome of a mail that could not be composed. Nothing was handed over. */
export function unmade(error: unknown): Outcome {
	const reason = error instanceof Error ? error.message : String(error)
	const mayBeMadeLater =
		error instanceof ThreadLost ||
		error instanceof TemplateTooSlow ||
		isNotLoaded(error) ||
		isUnusableKey(error)
	if (mayBeMadeLater) return { kind: 'DEFERRED', error: reason, retryAfterMs: null }
	// Composing this mail would fail again.
	return { kind: 'REJECTED', error: `The mail could not be composed: ${reason}`, bounce: false }
}
