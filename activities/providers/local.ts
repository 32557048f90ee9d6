import type { Message } from '../rendering/message.ts'
import { wireOf } from '../rendering/rendering.ts'
import type { Provider } from './provider.ts'

/** Puts a mail into the mailbox; a second time for the same emailId it must do nothing. */
export type StoreMail = (message: Message, raw: Buffer) => Promise<void>

const CONCURRENCY = 20

/** Nothing leaves the machine: mail goes into the mailbox page. */
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
