import type { EncodedMail } from '../../mail/encoding.ts'
import { encodingFirst } from './encoding-first.ts'
import type { Outcome, Provider } from './provider.ts'

/** Stores a mail in the mailbox. A second call for the same emailId must do nothing. */
export type StoreMail = (mail: EncodedMail) => Promise<void>

const CONCURRENCY = 20

/** Mail stays on this machine: it is stored for the mailbox page, without a signature. */
export function localProvider({ store }: { store: StoreMail }): Provider {
	async function deliverEncoded(mail: EncodedMail): Promise<Outcome> {
		try {
			await store(mail)
			return { kind: 'SENT', providerMessageId: null }
		} catch (error) {
			return { kind: 'UNAVAILABLE', error: `The mailbox: ${reason(error)}`, retryAfterMs: null }
		}
	}

	const deliver = encodingFirst(deliverEncoded)
	return {
		name: 'local',
		idempotent: true,
		concurrency: CONCURRENCY,
		deliver: (message) => deliver(message),
		encoding: 'mime',
		deliverEncoded,
		async close() {},
	}
}

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error))
