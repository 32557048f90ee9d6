import { type EncodedMail, withContent } from '../../mail/encoding.ts'
import type { Message } from '../../mail/message.ts'
import { type DkimKey, isUnusableKey } from '../../mail/mime/dkim.ts'
import { wireOf } from '../../mail/rendering.ts'
import { ThreadLost } from '../../mail/threads/pool.ts'
import type { Outcome } from './provider.ts'

/** `deliver` of a provider that takes mails in their wire format. */
export const encodingFirst =
	(deliverEncoded: (mail: EncodedMail) => Promise<Outcome>) =>
	async (message: Message, dkim?: DkimKey): Promise<Outcome> => {
		let raw: Buffer
		try {
			raw = await wireOf(message, dkim)
		} catch (error) {
			const reason = error instanceof Error ? error.message : String(error)
			const mayPass = isUnusableKey(error) || error instanceof ThreadLost
			if (mayPass) return { kind: 'DEFERRED', error: reason, retryAfterMs: null }
			return { kind: 'REJECTED', error: `Unusable message: ${reason}`, bounce: false }
		}
		return deliverEncoded(withContent(message, raw))
	}
