import { createHash } from 'node:crypto'
import Type from 'typebox'
import { createSigner } from '../accounts/signer.ts'
import { ApiError } from '../errors.ts'

export const ConfirmToken = Type.Optional(
	Type.String({
		maxLength: 2000,
		description:
			'From the preview, which the same call without it returns. Pass it only after the user has agreed to that preview.',
	}),
)

/** Acts that reach or remove many people. Each takes a preview and a second call. */
export type ConfirmedAct = 'send_mail' | 'send_campaign' | 'delete_contacts'

interface Confirmation {
	projectId: string
	act: ConfirmedAct
	/** The digest of what the preview showed. */
	shown: string
	/** How many people the preview showed. */
	count: number
}

interface Act {
	projectId: string
	act: ConfirmedAct
	/** The content and the audience. A token is valid for equal content only. */
	content: object
	count: number
}

const seconds = 600
/** An audience changes all the time. It may grow by this much between the preview and the act. */
const growth = 1.1

export type Confirmations = ReturnType<typeof createConfirmations>

/**
 * Tokens that connect an act with its preview. They are signed, not stored, so any process can check the
 * token of another.
 */
export function createConfirmations(secret: string) {
	const signer = createSigner<Confirmation>(secret, 'mcp confirmation')
	return {
		offer({ projectId, act, content, count }: Act) {
			const confirmToken = signer.sign({ projectId, act, shown: digestOf(content), count }, seconds)
			const confirmBefore = new Date(Date.now() + seconds * 1000).toISOString()
			return { confirmToken, confirmBefore }
		},

		/** Throws unless the token is for this act as it was shown. */
		check(token: string, { projectId, act, content, count }: Act) {
			const given = signer.verify(token)
			if (!given || given.projectId !== projectId || given.act !== act) throw notValid()
			if (given.shown !== digestOf(content)) throw changed()
			if (count > given.count * growth) throw grown(given.count, count)
		},
	}
}

/** The same for equal values, whatever the order of their members. */
const digestOf = (content: object) =>
	createHash('sha256').update(JSON.stringify(content, inOrder)).digest('base64url')

const inOrder = (_name: string, value: unknown) =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
		: value

const suggestion =
	'Call the tool again without confirmToken, show the new preview to the user, and confirm that one.'

const conflict = (message: string, details = {}) =>
	new ApiError(409, 'CONFLICT', message, {
		details: { field: 'confirmToken', ...details },
		suggestion,
	})

const notValid = () =>
	conflict('This confirmToken is not valid for this act, or is older than ten minutes')
const changed = () => conflict('Something has changed since the preview, so nothing was done')
const grown = (shown: number, now: number) =>
	conflict(
		`The preview showed ${shown} recipients, and there are ${now} now, so nothing was done`,
		{
			shown,
			now,
		},
	)
