import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Readable } from 'node:stream'
import type { Pool } from 'pg'
import { createAcceptance } from '../../db/emails/acceptance-groups.ts'
import { meter } from '../../outside/telemetry/meter.ts'
import { parseJson } from '../requests/body.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { receive } from '../requests/receiving.ts'
import type { Failure } from '../requests/unions.ts'
import { Component, ContactReference, Id, success, Timestamp } from '../schemas.ts'
import { acceptLarge, LargeBody, largeBytes } from './large-send.ts'
import { acceptRequest, type SendOptions } from './send-acceptance.ts'
import { LargeMails } from './send-effort.ts'
import { SendBody } from './send-request.ts'

const SendResult = Component('SendResult', {
	emails: Type.Array(Type.Object({ contact: ContactReference, email: Id })),
	timestamp: Timestamp,
})

/** A JSON body contains the files in base64, and escapes. */
const bodyLimitBytes = 56 * 2 ** 20

const suggestions = {
	to: 'Give an address, { "name", "email" }, or a list of up to 1,000 of these. Names are separate from addresses.',
	subject:
		'Give a subject and a body, or the id of a template that has them. A subject is one line of at most 998 characters.',
	body: 'Give a subject and a body, or the id of a template that has them.',
	template: 'Give the id of a template, or a subject and a body. GET /templates lists the ids.',
	from: 'Give an address on a verified domain, or { "name", "email" }. A template may supply it.',
	data: 'Give an object of at most 64 KB. Its names have 1 to 100 characters.',
	headers:
		'Give an object of header names and values. Use to, from, subject and reply instead of the headers they set.',
	attachments:
		'Give each file as { "filename", "contentType", "content" }, the content in padded base64.',
}

export const send: FastifyPluginAsyncTypebox<SendOptions & { pool: Pool }> = async (
	app,
	options,
) => {
	const acceptance = createAcceptance(options.pool)
	app.removeContentTypeParser('application/json')
	app.addContentTypeParser(
		'application/json',
		async (request: FastifyRequest, payload: Readable) => {
			const bytes = await receive(request, payload)
			return bytes.length > largeBytes ? new LargeBody(bytes) : parseJson(bytes, SendBody)
		},
	)

	app.post(
		'/v1/send',
		{
			bodyLimit: bodyLimitBytes,
			// The schema's faults are reported together with the handler's.
			attachValidation: true,
			config: {
				auth: 'secret key',
				idempotent: true,
				nullIsAbsent: true,
				sends: true,
				errors: [404],
				suggestions,
			},
			schema: {
				tags: ['public'],
				summary: 'Send a mail to one or more recipients',
				description:
					'Accepted mail is delivered by a durable workflow; follow it at GET /emails/{id}. Contacts are created or updated.',
				body: SendBody,
				response: { 200: success(SendResult) },
			},
		},
		async (request) => {
			const { body, validationError } = request
			const faults = fieldErrors((validationError?.validation ?? []) as Failure[])
			const onThread = (bytes: Buffer) => acceptLarge(options.pool, request, bytes, options)
			const here = () =>
				acceptRequest(acceptance, request, body, faults, options).catch((error: unknown) => {
					if (!(error instanceof LargeMails)) throw error
					return onThread(Buffer.from(JSON.stringify(body)))
				})
			const answer = await (body instanceof LargeBody ? onThread(body.bytes) : here())
			app.relay.wake()
			meter.accepted('/v1/send', answer.data.emails.length)
			return answer
		},
	)
}
