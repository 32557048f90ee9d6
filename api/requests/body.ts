import type { FastifyInstance } from 'fastify'
import { isUtf8 } from 'node:buffer'
import { isStorableText } from '../../activities/rendering/storable-text.ts'
import { ApiError, type FieldError, invalid } from '../errors.ts'

const maxDepth = 100
/** NUL and surrogates, as escapes: the only way in which JSON in UTF-8 can carry them. */
const suspicious = /\\u(0000|d[89a-f])/i

/**
 * JSON is the only body unless a route adds another. An empty one counts as none: many clients send
 * the content type with everything. What Postgres could not store is refused here, by its field.
 */
export function parseBodies(app: FastifyInstance) {
	const parse = app.getDefaultJsonParser('error', 'error')
	app.removeAllContentTypeParsers()
	app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
		// Decoding would replace what is no UTF-8, and we would mail the replacement.
		if (!isUtf8(bytes as Buffer)) return done(notUtf8())
		const json = bytes.toString()
		if (json.trim() === '') return done(null, undefined)
		void parse(request, json, (error, body) => {
			if (error) return done(unreadable(json))
			try {
				const isSound = checkDepth(body, 0)
				if (!isSound || suspicious.test(json)) checkValues(JSON.parse(json, asWritten))
				done(null, body)
			} catch (problem) {
				done(problem as Error)
			}
		})
	})
	// A missing body is an empty one: what it lacks is then reported field by field.
	app.addHook('preValidation', async (request) => {
		if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
	})
}

/** Whether each number can be what was written: too large for one (1e400), it is read as Infinity. */
function checkDepth(value: unknown, depth: number): boolean {
	if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
	if (typeof value !== 'object' || value === null) return true
	if (depth === maxDepth)
		throw new ApiError(400, 'VALIDATION_ERROR', 'The body is nested too deeply', {
			details: { maxDepth },
		})
	let isSound = true
	for (const inner of Object.values(value)) isSound = checkDepth(inner, depth + 1) && isSound
	return isSound
}

const rounded = Symbol('a whole number that a double does not hold')

/** A whole number of which the last digits would be others. */
const asWritten = (_key: string, value: unknown, { source = '' }: { source?: string } = {}) =>
	Number.isFinite(value) && /^-?\d{16,}$/.test(source) && BigInt(source) !== BigInt(value as number)
		? rounded
		: value

function checkValues(body: unknown) {
	const errors: FieldError[] = []
	const visit = (value: unknown, path: string[]) => {
		if (errors.length === 10) return
		if (typeof value === 'string' && !isStorableText(value)) errors.push(unstorable(path))
		if (typeof value === 'number' && !Number.isFinite(value)) errors.push(tooLarge(path))
		if (value === rounded) errors.push(tooLong(path))
		if (typeof value !== 'object' || value === null) return
		for (const [key, inner] of Object.entries(value)) {
			if (!isStorableText(key)) errors.push(unstorable(path))
			else visit(inner, [...path, key])
		}
	}
	visit(body, [])
	if (errors.length > 0) throw invalid(...errors)
}

const notUtf8 = () =>
	new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid UTF-8', {
		suggestion: 'Send JSON in UTF-8, whatever encoding your text comes from.',
	})

const unreadable = (json: string) =>
	new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid JSON', {
		details: { reason: syntaxFault(json) ?? 'It has a member __proto__ or constructor.prototype' },
		suggestion: 'Names and texts take double quotes, and no comma follows the last member.',
	})

/** Where and why it breaks, as the parser says it. */
function syntaxFault(json: string) {
	try {
		JSON.parse(json)
		return undefined
	} catch (error) {
		return (error as Error).message
	}
}

const unstorable = (path: string[]): FieldError => ({
	field: path.join('.'),
	message: 'must not contain NUL characters or broken Unicode',
	code: 'invalid_string',
})

/** Written as JSON again it would be a null, which takes a field away from a contact. */
const tooLarge = (path: string[]): FieldError => ({
	field: path.join('.'),
	message: 'must be a number that a double can hold',
	code: 'invalid_type',
})

const tooLong = (path: string[]): FieldError => ({
	field: path.join('.'),
	message: 'must be a whole number of up to 15 digits: send a longer one as text',
	code: 'invalid_type',
})
