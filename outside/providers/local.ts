import type { Message } from '../../mail/message.ts'
import { wireOf } from '../../mail/rendering.ts'
import type { Provider } from './provider.ts'

/** Stores a mail in the mailbox. A second call for the same emailId must do nothing. */
export type StoreMail = (message: Message, raw: Buffer) => Promise<void>

const CONCURRENCY = 20

/** Mail stays on this machine: it is stored for the mailbox page. */
export function localProvider({ store }: { store: StoreMail }): Provider {
	return {
		name: 'local',
		idempotent: true,
		concurrency: CONCURRENCY,
		async deliver(message) {
			let raw: Buffer
			try {
				raw = await wireOf(message)
			} catch (error) {
				return { kind: 'REJECTED', error: `Unusable message: ${reason(error)}`, bounce: false }
			}
			try {
				await store(message, raw)
				return { kind: 'SENT', providerMessageId: null }
			} catch (error) {
				return { kind: 'UNAVAILABLE', error: `The mailbox: ${reason(error)}`, retryAfterMs: null }
			}
		},
		async close() {},
	}
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
