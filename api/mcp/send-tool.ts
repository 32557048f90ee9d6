import { createHash } from 'node:crypto'
import Type from 'typebox'
import { ApiError } from '../errors.ts'
import { normalizeEmail } from '../schemas.ts'
import { SendBody } from '../send/send-request.ts'
import { briefData, briefText, counted, only } from './brief.ts'
import { ConfirmToken } from './confirmations.ts'
import { path } from './route-calls.ts'
import { defineTool, mailing, type ToolContext } from './tool.ts'

/** A mail to more people than this takes a preview and a second call. */
const most = 5

interface Sent {
	data: {
		/** A mail without a status is sent at once. */
		emails: { contact: { id: string; email: string }; email: string; status?: string }[]
	}
}

interface Template {
	subject: string
	body: string
	from: string
	fromName: string | null
}

// A model should not write files in base64, and `name` is deprecated.
const { attachments: _, name: _name, ...members } = SendBody.properties

export const sendMail = defineTool({
	name: 'send_mail',
	title: 'Send a mail',
	description: `Sends one mail to one person or a few, such as an answer, a receipt or a notification; a campaign is for many. Give subject and body, or a template. The sender's domain must be verified (list_domains). A mail to up to ${most} people is sent at once and can't be taken back, so show it to the user first. For more people nothing is sent by the first call: it returns a preview with a confirmToken, and the second call with the same arguments and that token sends. Follow the mail with explain_mail.`,
	annotations: mailing,
	input: {
		...members,
		idempotencyKey: Type.Optional(
			Type.String({
				minLength: 1,
				maxLength: 255,
				pattern: '^[ -~]+$',
				'x-message': 'must be printable ASCII',
				description:
					'Any text of your choice. A repeated call with the same key within a day sends nothing, and returns the first result.',
			}),
		),
		confirmToken: ConfirmToken,
	},
	async run({ confirmToken, idempotencyKey, ...body }, context) {
		const people = recipientsOf(body)
		if (people.length <= most) return sent(body, idempotencyKey, context)
		const { ask, project, confirmations } = context
		const template = body.template
			? await ask<Template>('GET', path`/templates/${body.template}`)
			: null
		const act = {
			projectId: project.publicId,
			act: 'send_mail' as const,
			content: { body, idempotencyKey, template },
			count: people.length,
		}
		if (confirmToken === undefined)
			return {
				text: `Nothing has been sent. This mail would go to ${people.length} people. Show this preview to the user; if they agree, call send_mail again with the same arguments and this confirmToken.`,
				data: { preview: previewOf(body, people, template), ...confirmations.offer(act) },
			}
		confirmations.check(confirmToken, act)
		// So that a token sends only once.
		const key = `mcp ${createHash('sha256').update(confirmToken).digest('base64url')}`
		return sent(body, idempotencyKey ?? key, context)
	},
})

type Given = Record<string, unknown>

/** Everyone who gets it. */
function recipientsOf(body: Given) {
	return ['to', 'cc', 'bcc'].flatMap((name) => {
		const people = (body[name] ?? []) as (string | { email: string })[]
		return [people].flat().map((one) => normalizeEmail(typeof one === 'string' ? one : one.email))
	})
}

/** Everything that the call contains, so that nothing is sent unseen. */
function previewOf({ to: _to, ...rest }: Given, people: string[], template: Template | null) {
	const lent = template && only(template, 'subject', 'body', 'from', 'fromName')
	const shown = Object.entries({ ...lent, ...rest }).map(([name, value]) => [
		name,
		typeof value === 'string' ? briefText(value) : briefData(value),
	])
	return {
		recipients: people.length,
		to: people.slice(0, 20),
		...Object.fromEntries(shown),
	} as object
}

async function sent(body: object, idempotencyKey: string | undefined, { ask }: ToolContext) {
	const { answer, isRepeat } = await ask<Sent>('POST', '/v1/send', { body, idempotencyKey }).then(
		(answer) => ({ answer, isRepeat: false }),
		(error: unknown) => ({ answer: firstAnswer(error), isRepeat: true }),
	)
	const { emails } = answer.data
	return {
		text: isRepeat
			? 'This was sent before under the same key, so nothing was sent now. This is the first result.'
			: `${counted(emails.length, 'mail')}: ${statusesOf(answer)}. Follow each with explain_mail.`,
		data: { ...answer.data, isRepeat },
	}
}

function statusesOf({ data }: Sent) {
	const byStatus = Map.groupBy(data.emails, ({ status = 'accepted' }) => status)
	return [...byStatus].map(([status, { length }]) => `${length} ${status}`).join(', ')
}

interface UsedKey {
	originalRequest?: string
	response?: Sent
}

/** The conflict of a used key carries the answer that the first request got: that of a send, or of another route. */
function firstAnswer(error: unknown): Sent {
	if (error instanceof ApiError && error.code === 'IDEMPOTENCY_KEY_REUSED') {
		const { originalRequest, response } = (error.extras.details ?? {}) as UsedKey
		if (originalRequest === 'POST /v1/send' && response) return response
	}
	throw error
}
