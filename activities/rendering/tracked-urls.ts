import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

// The addresses of our pixel and redirect: {base}/o/{token}/{emailId} and {base}/c/{token}/{emailId}?to=…
// A token names the project, for a campaign also the campaign, and signs both with the target. A
// campaign's mails share their tokens, so that only the mail's id differs between them; it needs no
// signature of its own, for nobody can guess one. The token of any other mail signs its id as well.

const macBytes = 16
const idBytes = 16
/** Word and Outlook, which show many mails, follow no address that is longer. */
const longestUrl = 2000

export interface Tracking {
	key: Buffer
	/** null: a mail by itself. */
	campaignId: string | null
}

/** What a token is good for. */
interface Scope {
	projectId: string
	campaignId: string | null
	emailId: string
}

export interface TrackedUrls {
	/** Our redirect to a link; null where the link is better left alone. */
	click(link: string): string | null
	/** Our pixel. */
	open: string
}

export interface Tracked extends Scope {
	/** Where the click leads; null for an open. */
	link: string | null
}

/** The same in every process that shares the secret, and for nothing else. */
export const trackingKey = (sessionSecret: string): Buffer =>
	Buffer.from(hkdfSync('sha256', sessionSecret, '', 'tempost tracked links', 32))

/**
 * The tracked addresses of a mail, or, since a campaign's differ only in the mail's id, of all its mails
 * when `emailId` is something to be replaced by it.
 */
export function trackedUrls(key: Buffer, publicUrl: string, scope: Scope): TrackedUrls {
	const base = publicUrl.replace(/\/+$/, '')
	return {
		open: `${base}/o/${tokenOf(key, scope, null)}/${scope.emailId}`,
		click(link) {
			const whole = link.toWellFormed()
			// An apostrophe is all that encodeURIComponent leaves and an attribute might not.
			const target = encodeURIComponent(whole).replaceAll("'", '%27')
			const url = `${base}/c/${tokenOf(key, scope, whole)}/${scope.emailId}?to=${target}`
			return url.length > longestUrl ? null : url
		},
	}
}

/** What a tracked address says, or null if we never wrote it. */
export function readTracked(
	key: Buffer,
	{ token, emailId, link }: { token: string; emailId: string; link: string | null },
): Tracked | null {
	const bytes = Buffer.from(token, 'base64url')
	const isCampaign = bytes.length === macBytes + 2 * idBytes
	if (!isCampaign && bytes.length !== macBytes + idBytes) return null
	if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(emailId)) return null
	const projectId = uuidOf(bytes.subarray(macBytes, macBytes + idBytes))
	const campaignId = isCampaign ? uuidOf(bytes.subarray(macBytes + idBytes)) : null
	const expected = macOf(key, { projectId, campaignId, emailId }, link)
	if (!timingSafeEqual(expected, bytes.subarray(0, macBytes))) return null
	return { projectId, campaignId, emailId, link }
}

function tokenOf(key: Buffer, scope: Scope, link: string | null) {
	const { projectId, campaignId } = scope
	const ids = [projectId, ...(campaignId === null ? [] : [campaignId])].map(bytesOf)
	return Buffer.concat([macOf(key, scope, link), ...ids]).toString('base64url')
}

function macOf(key: Buffer, { projectId, campaignId, emailId }: Scope, link: string | null) {
	const about = campaignId === null ? `mail ${emailId}` : `campaign ${campaignId}`
	const what = link === null ? 'open' : `click ${link}`
	return createHmac('sha256', key)
		.update(`${projectId} ${about} ${what}`)
		.digest()
		.subarray(0, macBytes)
}

const bytesOf = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex')

const uuidOf = (bytes: Buffer) =>
	bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
