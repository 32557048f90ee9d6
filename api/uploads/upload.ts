import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { ApiError } from '../errors.ts'

/** Limits for @fastify/multipart: one file, and a few small fields. */
export const uploadLimits = (maxBytes: number) => ({
	fileSize: maxBytes,
	files: 2,
	fields: 20,
	fieldSize: 1000,
})

/** The bytes of a form beside its file. */
export const formBytes = 2 ** 16

export interface Upload {
	content: Buffer
	/** Empty: the form has no file name. */
	filename: string
	/** The form's claim, which need not be true. */
	mimetype: string
}

/** A form with a file. The validator never sees the form, so it can't ask for the file. */
export const FileBody = (field: string, description: string) =>
	Type.Object(
		{
			[field]: Type.Optional(
				Type.Unsafe<string>({ type: 'string', format: 'binary', description }),
			),
		},
		{ 'x-documented': { required: [field], examples: [{ [field]: '(the bytes of the file)' }] } },
	)

/** The complete file of a form's field. Only now is it known that its sender still has access. */
export async function readUpload(request: FastifyRequest, field: string, maxBytes: number) {
	const upload = await uploadOf(request, field, maxBytes)
	await request.confirmAccess()
	return upload
}

async function uploadOf(request: FastifyRequest, field: string, maxBytes: number): Promise<Upload> {
	if (!request.isMultipart()) throw noFile(field)
	try {
		for await (const part of request.parts()) {
			if (part.type !== 'file') continue
			// The next part arrives only after this part was read to its end.
			const content = await part.toBuffer()
			// If the excess arrives in a packet of its own, the parser misses it and returns the part before.
			if (part.file.truncated) throw tooLarge(maxBytes)
			if (part.fieldname !== field) continue
			// Its types say otherwise, but the parser treats any part without a type as a file.
			const filename = (part.filename as string | undefined) ?? ''
			return { content, filename, mimetype: part.mimetype }
		}
	} catch (error) {
		throw refusalOf(error as Error & { code?: string; statusCode?: number }, field, maxBytes)
	}
	throw noFile(field)
}

function refusalOf(
	error: Error & { code?: string; statusCode?: number },
	field: string,
	maxBytes: number,
) {
	if (error instanceof ApiError) return error
	if (error.code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(maxBytes)
	if (error.statusCode === 413) return tooMany(field)
	// The parser's own errors have no code: a missing boundary, a truncated form.
	return new ApiError(400, 'BAD_REQUEST', 'The multipart form cannot be read', {
		cause: error,
		details: { reason: error.message },
	})
}

const tooLarge = (maxBytes: number) =>
	new ApiError(413, 'BAD_REQUEST', `The file is larger than ${maxBytes / 2 ** 20} MB`, {
		details: { maxBytes },
	})

const tooMany = (field: string) =>
	new ApiError(413, 'BAD_REQUEST', 'The form has too many or too large fields', {
		suggestion: `Send the file as the one field "${field}".`,
	})

const noFile = (field: string) =>
	new ApiError(400, 'BAD_REQUEST', 'There is no file in this request', {
		suggestion: `Send the file as multipart/form-data, in a field named "${field}".`,
	})
