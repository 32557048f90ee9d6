import type { Pool } from 'pg'
import { storeMessage } from '../../db/emails/mailbox-message.ts'
import type { EncodedMail } from '../../mail/encoding.ts'
import { largeBytes, storeLarge } from './large-mails.ts'

/** The mailbox to which the local provider "delivers". */
export const mailboxOf = (pool: Pool) => async (mail: EncodedMail) => {
	const { content: raw, bcc = [], ...rest } = mail
	if (raw.length > largeBytes) await storeLarge(pool, mail)
	else await storeMessage(pool, { ...rest, bcc, raw })
}
