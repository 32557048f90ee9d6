import type { FastifyInstance } from 'fastify'
import { isUtf8 } from 'node:buffer'
import { ApiError, type FieldError, invalid } from '../errors.ts'
import { type JsonFault, scanJson } from './json-scan.ts'
import { isNamed } from './named.ts'

/** Logging in, an address: nobody without a key or a session has more to say. */
const anonymousBody = 64 * 2 ** 10

/**
 * JSON is the only body unless a route adds another. An empty one counts as none: many clients send
 * the content type with everything. What Postgres could not store is refused here, by its field.
 */
export function parseBodies(app: FastifyInstance) {
	app.removeAllContentTypeParsers()
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
		try {
			done(null, parseJson(bytes as Buffer, request.routeOptions.schema?.body))
		} catch (problem) {
			done(problem as Error)
		}
	})
	app.addHook('onRoute', (route) => {
		if (route.config?.auth === 'none') route.bodyLimit ??= anonymousBody
	})
	// A missing body is an empty one: what it lacks is then reported field by field.
	app.addHook('preValidation', async (request) => {
		if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
	})
}

/** Of a body that follows the schema: members that it does not name are ignored, whatever they hold. */
export function parseJson(bytes: Buffer, schema: unknown) {
	// Decoding would replace what is no UTF-8, and we would mail the replacement.
	if (!isUtf8(bytes)) throw notUtf8()
	const faults = scanJson(bytes)
	const json = bytes.toString().replace(/^\uFEFF/, '')
	if (json.trim() === '') return undefined
	const body = parsed(json)
	const minded = faults.filter(({ kind, path }) => !isHarmless(kind) || isNamed(schema, path))
	if (minded.length > 0) throw invalid(...minded.map(fieldError))
	return body
}

const isHarmless = (kind: JsonFault['kind']) => kind === 'too large' || kind === 'rounded'

function parsed(json: string): unknown {
	try {
		return JSON.parse(json)
	} catch (error) {
		throw new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid JSON', {
			// Where and why it breaks, as the parser says it.
			details: { reason: (error as Error).message },
			suggestion: 'Names and texts take double quotes, and no comma follows the last member.',
		})
	}
}

const notUtf8 = () =>
	new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid UTF-8', {
		suggestion: 'Send JSON in UTF-8, whatever encoding your text comes from.',
	})

const wordings: Record<JsonFault['kind'], [FieldError['code'], string]> = {
	'reserved name': ['custom', 'is a reserved name and cannot be used as a member'],
	unstorable: ['invalid_string', 'must not contain NUL characters or broken Unicode'],
	// Written as JSON again it would be a null, which takes a field away from a contact.
	'too large': ['invalid_type', 'must be a number that a double can hold'],
	rounded: ['invalid_type', 'must be a whole number of up to 15 digits: send a longer one as text'],
}

function fieldError({ kind, path }: JsonFault): FieldError {
	const [code, message] = wordings[kind]
	return { field: path.join('.'), message, code }
}
