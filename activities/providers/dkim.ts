import { buffer } from 'node:stream/consumers'
import DKIM from 'nodemailer/lib/dkim'
import type { DkimKey } from './provider.ts'

/**
 * nodemailer's list without the fields our mail never has, and with List-Unsubscribe-Post, which it
 * lacks: RFC 8058 demands that the one-click header be covered by the signature.
 */
const SIGNED_FIELDS =
	'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:' +
	'Content-Transfer-Encoding:In-Reply-To:References:List-Id:List-Unsubscribe:List-Unsubscribe-Post'

/** The mail with its signature on top. Rejects when the key cannot sign. */
export async function signed(raw: Buffer, key: DkimKey): Promise<Buffer> {
	const dkim = new DKIM({
		domainName: key.domain,
		keySelector: key.selector,
		privateKey: key.privateKey,
		headerFieldNames: SIGNED_FIELDS,
	})
	const mail = await buffer(dkim.sign(raw))
	// nodemailer sends a mail on unsigned when the key is unusable, and says nothing.
	if (!mail.subarray(0, 15).equals(Buffer.from('DKIM-Signature:')))
		throw new Error(`The DKIM key of ${key.domain} cannot be used`)
	return mail
}
