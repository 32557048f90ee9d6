import Type from 'typebox'
import type { FieldError } from '../errors.ts'
import { about, Component } from '../schemas.ts'

export const Attachment = Component('Attachment', {
	filename: Type.String({
		description: 'The name under which the file is saved.',
		minLength: 1,
		maxLength: 255,
		pattern: '^[^"\\r\\n\\0]*$',
		'x-message': 'must not contain quotes or line breaks',
	}),
	content: Type.String({ description: 'The file, in base64' }),
	contentType: Type.String({
		description: 'The media type, such as application/pdf.',
		minLength: 1,
		maxLength: 255,
		pattern: '^[\\w!#$&^.+-]+/[\\w!#$&^.+-]+( *;[ -~]*)?$',
		'x-message': 'must be a media type such as application/pdf',
	}),
	contentId: Type.Optional(
		Type.String({
			description: 'Required for an inline attachment: the HTML refers to it as `cid:…`.',
			minLength: 1,
			maxLength: 255,
			pattern: '^[^<>\\r\\n]*$',
			'x-message': 'must not contain <, > or line breaks',
		}),
	),
	disposition: Type.Optional(
		about('inline shows the file within the HTML.', Type.Enum(['attachment', 'inline'])),
	),
})

type Attachment = Type.Static<typeof Attachment>

export interface FileLimits {
	attachmentsMaxCount: number
	attachmentsMaxMb: number
}

export type SendFiles = ReturnType<typeof filesOf>

export function filesOf(attachments: Attachment[] = []) {
	// Member by member, because unknown members of an attachment are dropped.
	return attachments.map(({ filename, contentType, content, contentId, disposition }, position) => {
		const base64 = /\s/.test(content) ? content.replaceAll(/\s+/g, '') : content
		const padding = base64.endsWith('==') ? 2 : Number(base64.endsWith('='))
		const size = Math.floor(((base64.length - padding) * 3) / 4)
		const inline = disposition === 'inline'
		const file = { filename, contentType, contentId: contentId ?? null, inline, position, size }
		return { ...file, content: base64 }
	})
}

export function fileProblems(
	files: SendFiles,
	{ attachmentsMaxCount, attachmentsMaxMb }: FileLimits,
): FieldError[] {
	if (files.length > attachmentsMaxCount)
		return [
			{
				field: 'attachments',
				message: `must have at most ${attachmentsMaxCount} items`,
				code: 'too_big',
				received: files.length,
			},
		]
	const problems: FieldError[] = []
	for (const { content, contentId, inline, position } of files) {
		const field = `attachments.${position}`
		if (content === '')
			problems.push({ field: `${field}.content`, message: 'must not be empty', code: 'too_small' })
		else if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content))
			problems.push({
				field: `${field}.content`,
				message: 'must be base64, padded with = to a multiple of four characters',
				code: 'invalid_string',
			})
		if (inline && contentId === null)
			problems.push({
				field: `${field}.contentId`,
				message: 'is required for an inline attachment: the body refers to it as cid:…',
				code: 'required',
			})
	}
	const bytes = files.reduce((sum, { size }) => sum + size, 0)
	if (bytes > attachmentsMaxMb * 2 ** 20)
		problems.push({
			field: 'attachments',
			message: `must be at most ${attachmentsMaxMb} MB in total`,
			code: 'too_big',
			received: bytes,
		})
	return problems
}
