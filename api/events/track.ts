import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { wholeDataProblems, splitData, unwrapData } from '../../db/contacts/contact-data.ts'
import { trackEvent } from '../../db/events/tracking.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { invalid } from '../errors.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import { laterNames, misnamedMembers } from '../requests/misnamed.ts'
import type { Failure } from '../requests/unions.ts'
import { about, Email, Id, normalizeEmail, success, Timestamp } from '../schemas.ts'
import { EventName, eventNameProblem } from './event-names.ts'

export const TrackBody = Type.Object(
	{
		email: about('The address of the contact.', Email),
		event: EventName,
		subscribed: Type.Optional(
			Type.Boolean({ description: 'By default true for new contacts, unchanged for others' }),
		),
		data: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), {
				description:
					'Stored on the contact and with the event; { value, persistent: false } with the event only',
			}),
		),
	},
	{
		title: 'TrackedEvent',
		examples: [{ email: 'ann@example.org', event: 'signup', data: { plan: 'pro' } }],
	},
)
export type TrackBody = Type.Static<typeof TrackBody>

/** What other services call our members: docs/sending.md lists them. */
const misnamed = misnamedMembers(TrackBody, {
	email: ['to', 'recipient', 'contact', 'emailAddress'],
	event: ['eventName', 'eventType'],
	data: ['properties', 'attributes', 'traits', 'params', 'payload', 'eventData', 'variables'],
	subscribed: ['subscribe', 'isSubscribed'],
	'a workflow with a DELAY step': [...laterNames, 'delivery'],
	'POST /v1/send for mail': [
		'subject',
		'body',
		'text',
		'html',
		'template',
		'templateId',
		'cc',
		'bcc',
		'tags',
	],
	'the header Idempotency-Key': ['idempotencyKey'],
})

export const TrackResult = success(Type.Object({ contact: Id, event: Id, timestamp: Timestamp }))

export const track: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/v1/track',
		{
			// The schema's faults are reported together with the handler's.
			attachValidation: true,
			config: {
				auth: 'public key',
				idempotent: true,
				nullIsAbsent: true,
				suggestions: trackSuggestions,
			},
			schema: {
				tags: ['public'],
				summary: 'Track an event of a contact',
				description: 'The contact is created if missing, and the data is stored on it.',
				body: TrackBody,
				response: { 200: TrackResult },
			},
		},
		async (request) => trackContact(pool, request, request.body),
	)
}

const tries = 10

export const trackSuggestions = {
	email: 'Give the address of the contact, without a name.',
	name: 'Give the event a name of 1 to 255 characters in one line.',
	event: 'Give the event a name of 1 to 255 characters in one line.',
	subscribed: 'Give true or false, or leave it out to keep the present state.',
	data: 'Give an object of at most 64 KB. Its names have 1 to 100 characters.',
}

/** Writes the event with its contact, or refuses with everything that is wrong. */
export async function trackContact(pool: Pool, request: FastifyRequest, body: TrackBody) {
	checkEvent(request, body, 'event')
	const { stored, removed } = splitData(body.data ?? {})
	const values = {
		projectId: request.project.id,
		email: normalizeEmail(body.email),
		subscribed: body.subscribed ?? null,
		data: stored,
		removedKeys: removed,
		eventName: body.event.trim(),
		eventData: unwrapData(body.data ?? {}),
		key: request.idempotency?.key ?? null,
		claimId: request.idempotency?.claimId ?? null,
	}
	for (let attempt = 0; attempt < tries; attempt++) {
		const [tracked] = await trackEvent(pool, values).catch((error: { code?: string }) => {
			throw isClaimLost(error) ? claimLost(request) : error
		})
		if (!tracked) continue
		if (!tracked.fits) throw invalid(tooBig('makes the data of the contact larger than 64 KB'))
		const { contact, event, timestamp } = tracked
		return { success: true as const, data: { contact, event, timestamp } }
	}
	throw new Error('A contact was created and deleted again too often to track an event of it')
}

/** The faults that the schema finds and those that it can't, in one answer. */
export function checkEvent(
	{ validationError }: FastifyRequest,
	body: { data?: Record<string, unknown> },
	nameField: 'event' | 'name',
) {
	const problems = fieldErrors((validationError?.validation ?? []) as Failure[])
	const isSound = (member: string) =>
		!problems.some(({ field }) => field === '' || `${field}.`.startsWith(`${member}.`))
	if (nameField === 'event') problems.push(...misnamed(body))
	// For a body that is not an object there is nothing more to report.
	const { [nameField]: name, data } = (body ?? {}) as {
		event?: string
		name?: string
		data?: object
	}
	if (isSound(nameField)) problems.push(...eventNameProblem(String(name).trim(), nameField))
	if (isSound('data') && data) problems.push(...wholeDataProblems(data as Record<string, unknown>))
	if (problems.length > 0) throw invalid(...problems)
}

const tooBig = (message: string) => ({ field: 'data', message, code: 'too_big' as const })
