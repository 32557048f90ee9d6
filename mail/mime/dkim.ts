import { createPrivateKey, type KeyObject } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import DKIM from 'nodemailer/lib/dkim'

/**
 * nodemailer's list, without the fields that our mail never has, and with List-Unsubscribe-Post, which it
 * lacks. RFC 8058 requires the signature to cover the one-click header.
 */
const SIGNED_FIELDS =
	'From:Sender:Reply-To:Subject:Date:Message-ID:To:Cc:MIME-Version:Content-Type:' +
	'Content-Transfer-Encoding:In-Reply-To:References:List-Id:List-Unsubscribe:List-Unsubscribe-Post'

export interface DkimKey {
	domain: string
	selector: string
	privateKey: string
}

/**
 * The domain's mail can be sent once the key is fixed. Recognised by name, because the class is lost on
 * the way from a thread.
 */
class UnusableKey extends Error {
	override name = 'UnusableKey'
}

export const isUnusableKey = (error: unknown) =>
	error instanceof Error && error.name === 'UnusableKey'

/** Parsing a key costs as much as signing with it. */
const keys = new Map<string, KeyObject>()
const MAX_KEYS = 200

/** The mail with its signature on top. Rejects when the key can't sign. */
export async function signed(raw: Buffer, { domain, selector, privateKey }: DkimKey) {
	const dkim = new DKIM({
		domainName: domain,
		keySelector: selector,
		privateKey: keyOf(domain, privateKey),
		headerFieldNames: SIGNED_FIELDS,
	})
	const mail = await buffer(dkim.sign(raw))
	// When signing fails, nodemailer silently returns the mail unsigned.
	if (!mail.subarray(0, 15).equals(Buffer.from('DKIM-Signature:'))) throw unusable(domain)
	return mail
}

function keyOf(domain: string, privateKey: string) {
	const known = keys.get(privateKey)
	if (known) return known
	try {
		const key = createPrivateKey(privateKey)
		if (keys.size >= MAX_KEYS) keys.clear()
		keys.set(privateKey, key)
		return key
	} catch {
		throw unusable(domain)
	}
}

const unusable = (domain: string) => new UnusableKey(`The DKIM key of ${domain} cannot be used`)
