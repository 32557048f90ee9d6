import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto'

// The addresses of our pixel and redirect: {base}/o/{token}/{emailId} and {base}/c/{token}/{emailId}?to=…
// A token names the project, and the campaign if there is one, and signs both with the target. All mails
// of a campaign share their tokens and differ only in the mail's id, which needs no signature because it
// can't be guessed. For any other mail the token also signs the id.

const macBytes = 16
const idBytes = 16
/** Word and Outlook, which show many mails, don't follow longer addresses. */
const longestUrl = 2000

export interface Tracking {
	key: Buffer
	/** null: the mail belongs to no campaign. */
	campaignId: string | null
}

/** What a token is valid for. */
interface Scope {
	projectId: string
	campaignId: string | null
	emailId: string
}

export interface TrackedUrls {
	/** The address of our redirect to a link; null where the link should not be changed. */
	click(link: string): string | null
	/** The address of our pixel. */
	open: string
}

export interface Tracked extends Scope {
	/** The target of a click; null for an open. */
	link: string | null
}

/** The same in every process that shares the secret, and derived for this purpose only. */
export const trackingKey = (sessionSecret: string): Buffer =>
	Buffer.from(hkdfSync('sha256', sessionSecret, '', 'tempost tracked links', 32))

/**
 * The tracked addresses of a mail. For all mails of a campaign, pass a placeholder as `emailId` and
 * replace it by each mail's id.
 */
export function trackedUrls(key: Buffer, publicUrl: string, scope: Scope): TrackedUrls {
	const base = publicUrl.replace(/\/+$/, '')
	// Node converts a key given as bytes for each signature, which takes five times as long as the signature.
	const secret = createSecretKey(key)
	// Mails repeat their links.
	const known = new Map<string, string | null>()

	function clickOf(link: string) {
		const whole = link.toWellFormed()
		// encodeURIComponent leaves only the apostrophe, which an attribute might not allow.
		const target = encodeURIComponent(whole).replaceAll("'", '%27')
		const url = `${base}/c/${tokenOf(secret, scope, whole)}/${scope.emailId}?to=${target}`
		return url.length > longestUrl ? null : url
	}

	return {
		open: `${base}/o/${tokenOf(secret, scope, null)}/${scope.emailId}`,
		click(link) {
			let url = known.get(link)
			if (url === undefined) known.set(link, (url = clickOf(link)))
			return url
		},
	}
}

/** The content of a tracked address, or null if we didn't create it. */
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
	const expected = macOf(createSecretKey(key), { projectId, campaignId, emailId }, link)
	if (!timingSafeEqual(expected, bytes.subarray(0, macBytes))) return null
	return { projectId, campaignId, emailId, link }
}

function tokenOf(key: KeyObject, scope: Scope, link: string | null) {
	const { projectId, campaignId } = scope
	const ids = [projectId, ...(campaignId === null ? [] : [campaignId])].map(bytesOf)
	return Buffer.concat([macOf(key, scope, link), ...ids]).toString('base64url')
}

function macOf(key: KeyObject, { projectId, campaignId, emailId }: Scope, link: string | null) {
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
