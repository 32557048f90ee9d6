/** The body of POST /emails, and of each item of POST /emails/batch. */
export interface ResendMail {
	from?: string
	to?: string | string[]
	reply_to?: string | string[]
	subject?: string
	html?: string
	text?: string
	headers?: Record<string, string>
	tags?: { name: string; value: string }[]
	attachments?: {
		filename?: string
		content?: string
		content_type?: string
		content_id?: string
		path?: string
	}[]
}

const ADDRESS = /^[^\s<>@]+@[^\s<>@]+$/
const NAMED = /^("(?:[^"\\]|\\.)*"|[^"<>,;@]*) ?<[^\s<>@]+@[^\s<>@]+>$/

const isAddress = (value: string) => ADDRESS.test(value) || NAMED.test(value)

/** Refusals as in Resend's documentation. */
export function problemOf(mail: ResendMail) {
	for (const name of ['from', 'to', 'subject'] as const)
		if (!mail[name]?.length) return wrong('missing_required_field', `The ${name} field is missing`)
	if (!mail.html && !mail.text) return wrong('validation_error', 'Missing html or text field')
	if (!isAddress(mail.from!)) return wrong('invalid_from_address', 'Invalid from field')
	if (mail.from!.includes('@unverified.'))
		return { ...wrong('validation_error', 'The domain is not verified'), status: 403 }
	const recipients = [mail.to!].flat()
	if (recipients.length > 50 || !recipients.every(isAddress))
		return wrong('validation_error', 'Invalid to field')
	if (![mail.reply_to ?? []].flat().every(isAddress))
		return wrong('validation_error', 'Invalid reply_to field')
	for (const { name, value } of mail.tags ?? [])
		if (!/^[\w-]{1,256}$/.test(name) || !/^[\w-]{1,256}$/.test(value))
			return wrong('validation_error', 'Tags should only contain ASCII letters, numbers, _ and -')
	for (const { content, path } of mail.attachments ?? [])
		if (!content && !path)
			return wrong('invalid_attachment', 'Attachment must have either a content or path')
	return null
}

const wrong = (name: string, message: string) => ({ status: 422, name, message })
