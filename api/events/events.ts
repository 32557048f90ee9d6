import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { unwrapData } from '../../db/contacts/contact-data.ts'
import { Contact } from '../../db/contacts/contact.ts'
import {
	commonestEvents,
	eventsOfPage,
	latestEvents,
	latestEventsNamed,
	latestEventsOfContact,
	mostNames,
} from '../../db/events/event-queries.ts'
import { insertEvent } from '../../db/events/tracking.ts'
import { isClaimLost } from '../../db/idempotency-key.ts'
import { Period, readPeriod } from '../analytics/period.ts'
import { invalid, notFound } from '../errors.ts'
import { claimLost } from '../requests/idempotency.ts'
import type { SendPage } from '../requests/large-pages.ts'
import {
	about,
	Component,
	ContactReference,
	Cursor,
	CursorTime,
	decodeCursor,
	encodeCursor,
	Extended,
	Id,
	Json,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { readEventCounts, readEventsOfContact } from './event-counts.ts'
import { EventName } from './event-names.ts'
import { namedEvents } from './named-events.ts'
import { checkEvent, TrackBody, trackContact, TrackResult, trackSuggestions } from './track.ts'

const Event = Component('Event', {
	id: Id,
	name: Type.String(),
	data: Json,
	contactId: Nullable(Id),
	emailId: Nullable(Id),
	createdAt: Timestamp,
})
const EventWithContact = Extended('EventWithContact', [Event], {
	contact: Nullable(ContactReference),
})

const EventBody = Component('NewEvent', {
	name: EventName,
	contactId: Type.Optional(about('The contact that the event is about.', Nullable(Id))),
	emailId: Type.Optional(about('The mail that the event is about.', Nullable(Id))),
	data: Type.Optional(
		Type.Record(Type.String(), Type.Unknown(), { description: 'Stored with the event.' }),
	),
})
type EventBody = Type.Static<typeof EventBody>

/** Both bodies. A member that only one of them has decides which faults are answered. */
const EitherBody = Type.Unsafe<EventBody | TrackBody>({
	examples: [{ name: 'signup', contactId: '0199d3f4-7e00-7000-8000-000000000001' }],
	if: { type: 'object', required: ['name'], not: { required: ['event'] } },
	// Ajv reads it, and no code awaits it.
	// oxlint-disable-next-line unicorn/no-thenable
	then: EventBody,
	else: TrackBody,
})

const limitOf = (byDefault: number) =>
	Type.Integer({ minimum: 1, default: byDefault, description: 'At most 1000' })
const most = (limit: number) => Math.min(limit, 1000)

/** The cursor of a contact's events: the time and id of the last one. */
const Position = Type.Tuple([CursorTime, Id])

const config = { auth: 'secret key or session' } as const
const tags = ['events']

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const events: FastifyPluginAsyncTypebox<Options> = async (app, { pool, sendPage }) => {
	app.post(
		'/events/track',
		{
			// The schema's faults are reported together with the handler's.
			attachValidation: true,
			config: {
				...config,
				idempotent: true,
				nullIsAbsent: true,
				errors: [404],
				suggestions: trackSuggestions,
			},
			schema: {
				tags,
				summary: 'Track an event',
				description:
					'Takes the body of POST /v1/track and answers like it, or { name, contactId?, emailId?, data? } and answers with the event.',
				body: EitherBody,
				response: { 200: TrackResult, 201: Event },
			},
		},
		async (request, reply) => {
			const { body, project } = request
			if (!isEventBody(body)) return trackContact(pool, request, body)
			checkEvent(request, body, 'name')
			refuseAddress(body)
			const { contactId = null, emailId = null, data = {} } = body
			const [event] = await insertEvent(pool, {
				projectId: project.id,
				eventName: body.name.trim(),
				eventData: unwrapData(data),
				contactId,
				emailId,
				key: request.idempotency?.key ?? null,
				claimId: request.idempotency?.claimId ?? null,
			}).catch((error: { code?: string; constraint?: string }) => {
				if (isClaimLost(error)) throw claimLost(request)
				if (error.constraint === 'events_contact') throw notFound('contact', contactId)
				if (error.constraint === 'events_email') throw notFound('email', emailId)
				throw error
			})
			return reply.code(201).send(event!)
		},
	)

	app.get(
		'/events',
		{
			config,
			schema: {
				tags,
				summary: 'List the latest events',
				description:
					'Newest first. Events of the service itself, such as email.open, are included.',
				querystring: Type.Object({
					eventName: Type.Optional(Type.String({ description: 'Only events with this name.' })),
					limit: limitOf(100),
				}),
				response: { 200: Type.Object({ events: Type.Array(EventWithContact) }) },
			},
		},
		async ({ project, query: { eventName, limit } }, reply) =>
			sendPage(reply, {
				listed: eventName
					? await latestEventsNamed(pool, {
							projectId: project.id,
							limit: most(limit),
							eventName: eventName.trim(),
						})
					: await latestEvents(pool, { projectId: project.id, limit: most(limit) }),
				read: (ids) => eventsOfPage(pool, { projectId: project.id, eventIds: ids }),
				answer: (rows) => ({ events: rows }),
			}),
	)

	app.get(
		'/events/stats',
		{
			config,
			schema: {
				tags,
				summary: 'Count events by name',
				description: `Most frequent first, at most ${mostNames}.`,
				querystring: Type.Object(Period),
				response: {
					200: Type.Array(Type.Object({ name: Type.String(), count: Type.Integer() })),
				},
			},
		},
		async ({ project, query }) => {
			const { start, end } = readPeriod(query)
			return readEventCounts(pool, project.id, (db) =>
				commonestEvents(db, { projectId: project.id, since: start, until: end }),
			)
		},
	)

	app.get(
		'/events/contact/:contactId',
		{
			config: { ...config, errors: [404] },
			schema: {
				tags,
				summary: "List a contact's latest events",
				description:
					'Newest first. Events of the service itself, such as email.open, are included.',
				params: Type.Object({ contactId: PathId('contact') }),
				querystring: Type.Object({
					limit: limitOf(50),
					cursor: Cursor,
				}),
				response: {
					200: Type.Object({
						events: Type.Array(Event),
						hasMore: Type.Boolean(),
						cursor: Type.Optional(Type.String({ description: 'Absent on the last page' })),
					}),
				},
			},
		},
		async ({ em, project, params: { contactId }, query }, reply) => {
			const [time, beforeId = null] =
				query.cursor === undefined ? [] : decodeCursor(Position, query.cursor)
			if ((await em.count(Contact, { projectId: project.id, id: contactId })) === 0)
				throw notFound('contact', contactId)
			const limit = most(query.limit)
			const found = await readEventsOfContact(pool, project.id, (db) =>
				latestEventsOfContact(db, {
					projectId: project.id,
					limit: limit + 1,
					contactId,
					before: time === undefined ? null : new Date(time),
					beforeId,
				}),
			)
			const listed = found.slice(0, limit)
			const hasMore = found.length > limit
			const last = listed.at(-1)
			const rest =
				hasMore && last
					? { hasMore, cursor: encodeCursor([last.at.getTime(), last.id]) }
					: { hasMore }
			return sendPage(reply, {
				listed,
				read: (ids) => eventsOfPage(pool, { projectId: project.id, eventIds: ids }),
				answer: (rows) => ({ events: rows, ...rest }),
			})
		},
	)

	await app.register(namedEvents, { pool })
}

/** It belongs to the other body. Here the event would be nobody's, and start nothing. */
function refuseAddress(body: EventBody) {
	if ('email' in body && !body.contactId)
		throw invalid({
			field: 'email',
			message: 'belongs to a body with `event`: rename `name`, or give a `contactId`',
			code: 'unrecognized_keys',
		})
}

/** As the schema distinguishes them; a body that is neither gets the faults of POST /v1/track. */
const isEventBody = (body: EventBody | TrackBody): body is EventBody =>
	typeof body === 'object' && body !== null && 'name' in body && !('event' in body)
