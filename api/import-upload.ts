import type { FastifyRequest } from 'fastify'
import { ApiError, invalid } from './errors.ts'

export const maxFileBytes = 5 * 2 ** 20

/** For @fastify/multipart: one file, and what little a form may have beside it. */
export const uploadLimits = { fileSize: maxFileBytes, files: 2, fields: 20, fieldSize: 1000 }

/** The CSV of the form's field `file`, whole. */
export async function readUpload(request: FastifyRequest): Promise<Buffer> {
	if (!request.isMultipart()) throw noFile()
	try {
		for await (const part of request.parts()) {
			if (part.type !== 'file') continue
			const { fieldname, filename, mimetype } = part
			// Reading it to its end is what lets the next part come.
			const content = await part.toBuffer()
			// It overlooks an excess that comes in a packet of its own, and hands over what came before.
			if (part.file.truncated) throw tooLarge()
			if (fieldname !== 'file') continue
			if (!/\.csv$/i.test(filename) && !/^text\/csv\b/i.test(mimetype)) throw notCsv()
			return content
		}
	} catch (error) {
		throw refusalOf(error as Error & { code?: string; statusCode?: number })
	}
	throw noFile()
}

function refusalOf(error: Error & { code?: string; statusCode?: number }) {
	if (error instanceof ApiError) return error
	if (error.code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge()
	if (error.statusCode === 413) return tooMany()
	// What its parser throws has no code of its own: a boundary that is missing, a form that breaks off.
	return new ApiError(400, 'BAD_REQUEST', 'The multipart form cannot be read', {
		cause: error,
		details: { reason: error.message },
	})
}

const tooLarge = () =>
	new ApiError(413, 'BAD_REQUEST', 'The file is larger than 5 MB', {
		details: { maxBytes: maxFileBytes },
		suggestion: 'Split the file and import its parts one after the other.',
	})

const tooMany = () =>
	new ApiError(413, 'BAD_REQUEST', 'The form has too many or too large fields', {
		suggestion: 'Send the CSV as the one field "file".',
	})

const noFile = () =>
	new ApiError(400, 'BAD_REQUEST', 'There is no file in this request', {
		suggestion: 'Send the CSV as multipart/form-data, in a field named "file".',
	})

const notCsv = () =>
	invalid({
		field: 'file',
		message: 'must be a CSV file: named .csv, or of the type text/csv',
		code: 'custom',
	})
