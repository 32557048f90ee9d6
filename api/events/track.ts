import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import {
	dataProblems,
	maxDataBytes,
	splitData,
	unwrapData,
} from '../../activities/rendering/contact-data.ts'
import { trackEvent } from '../../db/events/tracking.ts'
import { type FieldError, invalid } from '../errors.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { claimLost } from '../requests/idempotency.ts'
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

export const TrackResult = success(Type.Object({ contact: Id, event: Id, timestamp: Timestamp }))

export const track: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.post(
		'/v1/track',
		{
			// Told together with what the handler finds.
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
				description: 'The contact is created if missing, and takes up the data.',
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
	const values = [
		request.project.id,
		normalizeEmail(body.email),
		body.subscribed ?? null,
		JSON.stringify(stored),
		removed,
		body.event.trim(),
		JSON.stringify(unwrapData(body.data ?? {})),
		request.idempotency?.key ?? null,
		request.idempotency?.claimId ?? null,
	]
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

/** What the schema found and what it cannot say, in one answer. */
export function checkEvent(
	{ validationError }: FastifyRequest,
	body: { data?: Record<string, unknown> },
	nameField: 'event' | 'name',
) {
	const problems = fieldErrors((validationError?.validation ?? []) as Failure[])
	const isSound = (member: string) =>
		!problems.some(({ field }) => field === '' || `${field}.`.startsWith(`${member}.`))
	// Of what is no object at all nothing more can be said.
	const { [nameField]: name, data } = (body ?? {}) as {
		event?: string
		name?: string
		data?: object
	}
	if (isSound(nameField)) problems.push(...eventNameProblem(String(name).trim(), nameField))
	if (isSound('data') && data) problems.push(...eventDataProblems(data as Record<string, unknown>))
	if (problems.length > 0) throw invalid(...problems)
}

/** Not only what the contact keeps, but all of it is stored: with the event. */
function eventDataProblems(data: Record<string, unknown>): FieldError[] {
	const problems = dataProblems(data)
	if (problems.length > 0) return problems
	const bytes = Buffer.byteLength(JSON.stringify(data))
	return bytes > maxDataBytes ? [tooBig('must be at most 64 KB in total')] : []
}

const tooBig = (message: string) => ({ field: 'data', message, code: 'too_big' as const })

/** The division by zero in the statement: it found no claim of ours to complete. */
export const isClaimLost = ({ code }: { code?: string }) => code === '22012'
