import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import { takeTurn } from '../../db/event-loop.ts'
import { ApiError, type FieldError, invalid } from '../errors.ts'
import { type JsonFault, readJson } from './json-scan.ts'
import { isNamed } from './named.ts'

/** The limit for requests without a key or a session, which only log in or send an address. */
const anonymousBody = 64 * 2 ** 10

/**
 * JSON is the only body type unless a route adds another. An empty body counts as none, because many
 * clients always send the content type. Text that Postgres can't store is refused here, by its field.
 */
export function parseBodies(app: FastifyInstance) {
	app.removeAllContentTypeParsers()
	app.addContentTypeParser(
		'application/json',
		{ parseAs: 'buffer' },
		async (request: FastifyRequest, bytes: Buffer) =>
			parseJson(bytes, request.routeOptions.schema?.body),
	)
	app.addHook('onRoute', (route) => {
		if (route.config?.auth === 'none') route.bodyLimit ??= anonymousBody
	})
	app.addHook('preParsing', (request, _reply, _payload, done) => {
		const { 'content-encoding': encoding = 'identity' } = request.headers
		done(encoding.toLowerCase() === 'identity' ? null : compressed())
	})
	// A missing body counts as an empty one, so that its missing fields are reported.
	app.addHook('preValidation', async (request) => {
		if (request.body === undefined && request.routeOptions.schema?.body) request.body = {}
		await takeTurn()
	})
	// Parsing, validating and processing a large body takes some milliseconds each.
	app.addHook('preHandler', takeTurn)
}

/** Parses a body. Numbers that lose digits or overflow are faults only in members that the schema declares. */
export async function parseJson(bytes: Buffer, schema: unknown) {
	// Decoding would replace invalid UTF-8, and the replacement would be mailed.
	if (!isUtf8(bytes)) throw notUtf8()
	const { value, faults } = await pacedly(readJson(bytes)).catch(orInvalid)
	const minded = faults.filter(({ kind, path }) => !isHarmless(kind) || isNamed(schema, path))
	if (minded.length > 0) throw invalid(...minded.map(fieldError))
	return value
}

/** Other work runs whenever the parser yields. */
async function pacedly<Result>(work: Generator<void, Result>) {
	for (;;) {
		const step = work.next()
		if (step.done) return step.value
		await takeTurn()
	}
}

const isHarmless = (kind: JsonFault['kind']) => kind === 'too large' || kind === 'rounded'

function orInvalid(error: unknown): never {
	if (!(error instanceof SyntaxError)) throw error
	throw new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid JSON', {
		// The place and the cause, in the parser's words.
		details: { reason: error.message },
		suggestion: 'Names and texts take double quotes, and no comma follows the last member.',
	})
}

const compressed = () =>
	new ApiError(415, 'BAD_REQUEST', 'A compressed body is not supported', {
		suggestion: 'Send the body as it is, without Content-Encoding.',
	})

const notUtf8 = () =>
	new ApiError(400, 'VALIDATION_ERROR', 'The body is not valid UTF-8', {
		suggestion: 'Send JSON in UTF-8, whatever encoding your text comes from.',
	})

const wordings: Record<JsonFault['kind'], [FieldError['code'], string]> = {
	'reserved name': ['custom', 'is a reserved name and cannot be used as a member'],
	unstorable: ['invalid_string', 'must not contain NUL characters or broken Unicode'],
	// Written as JSON it would become null, which deletes a field of a contact.
	'too large': ['invalid_type', 'must be a number that a double can hold'],
	rounded: ['invalid_type', 'must be a whole number of up to 15 digits: send a longer one as text'],
}

function fieldError({ kind, path }: JsonFault): FieldError {
	const [code, message] = wordings[kind]
	return { field: path.join('.'), message, code }
}
