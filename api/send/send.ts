import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest, RouteShorthandOptions } from 'fastify'
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
import type { SendOptions } from './send-acceptance.ts'
import { acceptBody, BatchBody, type bodies, mostMessages } from './send-bodies.ts'
import { LargeMails } from './send-effort.ts'
import { SendBody } from './send-request.ts'

const SentMail = Component('SentMail', {
	contact: ContactReference,
	email: Id,
	status: Type.Optional(
		Type.Enum(['SCHEDULED', 'THROTTLED'], {
			description:
				'SCHEDULED: the mail waits for its time. THROTTLED: the recipient is skipped, and `email` is the earlier mail. Absent: the mail is sent now.',
		}),
	),
	scheduledFor: Type.Optional(Timestamp),
})
const SendResult = Component('SendResult', {
	emails: Type.Array(SentMail),
	timestamp: Timestamp,
})

const BatchResult = Component('BatchResult', {
	results: Type.Array(Type.Object({ emails: Type.Array(SentMail) })),
	timestamp: Timestamp,
})

const faultsOf = ({ validationError }: FastifyRequest) =>
	fieldErrors((validationError?.validation ?? []) as Failure[])

/** How many messages a large body has is not known yet. */
const countOf = (body: unknown) =>
	body instanceof LargeBody
		? mostMessages
		: Math.min(Array.isArray(body) ? body.length : 1, mostMessages)

const isAccepted = ({ status }: { status?: string }) => status !== 'THROTTLED'

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
	delivery:
		'Give { "at": an ISO time with a zone, at most 30 days ahead }, or { "throttle": "24h" }.',
	headers:
		'Give an object of header names and values. Use to, from, subject and reply instead of the headers they set.',
	attachments:
		'Give each file as { "filename", "contentType", "content" }, the content in padded base64.',
}

/** The routing of both routes. */
const sending: Omit<RouteShorthandOptions, 'schema'> = {
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
			return bytes.length > largeBytes
				? new LargeBody(bytes)
				: parseJson(bytes, request.routeOptions.schema?.body)
		},
	)

	/** Small requests are processed at once, and others on a thread. */
	async function accept<Name extends keyof typeof bodies>(name: Name, request: FastifyRequest) {
		const { body } = request
		const onThread = (bytes: Buffer) => acceptLarge(options.pool, name, request, bytes, options)
		const answer = await (body instanceof LargeBody
			? onThread(body.bytes)
			: acceptBody(name, acceptance, request, body, faultsOf(request), options).catch(
					(error: unknown) => {
						if (!(error instanceof LargeMails)) throw error
						return onThread(Buffer.from(JSON.stringify(body)))
					},
				))
		// Triggers tell of what else this has left in the outbox.
		app.relay.wakeSends()
		return answer
	}

	app.post(
		'/v1/send',
		{
			...sending,
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
			const answer = await accept('one', request)
			meter.accepted('/v1/send', answer.data.emails.filter(isAccepted).length)
			return answer
		},
	)

	app.post(
		'/v1/send/batch',
		{
			...sending,
			schema: {
				tags: ['public'],
				summary: 'Send up to 100 messages in one request',
				description:
					'Either all messages are accepted, in one transaction, or none. The results are in the order of the messages. An error names its message by its place, from 0: `1.to`. For the rate limit each message counts as a request, and a body of more than 1 MB as 100.',
				body: BatchBody,
				response: { 200: success(BatchResult) },
			},
		},
		async (request) => {
			const count = countOf(request.body)
			if (count > 1) await app.countRequests(request, count - 1)
			const answer = await accept('batch', request)
			const { results } = answer.data
			meter.accepted(
				'/v1/send/batch',
				results.flatMap(({ emails }) => emails.filter(isAccepted)).length,
			)
			return answer
		},
	)
}
