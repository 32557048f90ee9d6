import { isIP } from 'node:net'
import Type from 'typebox'
import { eventPrefix, webhookFamilies, webhookTypes } from '../../db/webhooks/webhook-types.ts'
import { endpointDisabledReasons, webhookOrderings } from '../../db/webhooks/webhook-endpoint.ts'
import { mostCounted } from '../../db/webhooks/webhook-endpoint-records.ts'
import { isPublicAddress } from '../../outside/requests/public-address.ts'
import type { FieldError } from '../errors.ts'
import { about, Component, Id, Line, Nullable, Timestamp } from '../schemas.ts'

export const Fields = {
	url: about(
		'The address that gets the events: https:// or http://, and public.',
		Line({ minLength: 1, maxLength: 2048 }),
	),
	events: Type.Array(Line({ minLength: 1, maxLength: 300 }), {
		minItems: 1,
		maxItems: 100,
		description:
			'Types such as `email.bounced`, all of a kind such as `contact.*`, tracked events such as `event.signup`, or `*`.',
	}),
	description: Type.Optional(
		about('For people who read the list.', Nullable(Type.String({ maxLength: 500 }))),
	),
	enabled: Type.Optional(
		Type.Boolean({
			description:
				'False: nothing is delivered to it, and its events are kept for a replay. A new endpoint is enabled unless you set it.',
		}),
	),
	ordering: Type.Optional(
		Type.Enum([...webhookOrderings], {
			description:
				'`email`: the next event of a mail waits until the one before is delivered or given up. `none` unless you set it.',
		}),
	),
}

export const EndpointView = Component('WebhookEndpoint', {
	id: Id,
	url: Type.String(),
	events: Type.Array(Type.String()),
	description: Nullable(Type.String()),
	ordering: Type.Enum([...webhookOrderings]),
	enabled: Type.Boolean(),
	disabledReason: Nullable(
		Type.Enum([...endpointDisabledReasons], {
			description: 'OWNER: by a request. GONE: it answered 410. FAILING: no success for five days',
		}),
	),
	disabledAt: Nullable(Timestamp),
	health: Type.Object({
		state: Type.Enum(['new', 'healthy', 'failing', 'disabled'], {
			description: '`new`: nothing was delivered yet. `failing`: the latest tries failed',
		}),
		lastSuccessAt: Nullable(Timestamp),
		failingSince: Nullable(Timestamp),
		failuresInRow: Type.Integer(),
		restingUntil: about(
			'Nothing is delivered before: it failed too often, or asked for it by Retry-After',
			Nullable(Timestamp),
		),
		waiting: Type.Integer({
			description: `Deliveries that are due or wait for their next try, counted up to ${mostCounted}`,
		}),
	}),
	replayJobId: about(
		'The replay that is under way: `/webhook-endpoints/{id}/replay/{jobId}` shows and cancels it',
		Nullable(Id),
	),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const known = new Set<string>(['*', ...webhookFamilies, ...webhookTypes])

/** Wrong types, each by its place. */
export const eventProblems = (events: string[] = []): FieldError[] =>
	events.flatMap((type, index) => {
		const isEvent = type.startsWith(eventPrefix) && type.length > eventPrefix.length
		if (known.has(type) || isEvent) return []
		const message =
			'is not a type of webhook: use a type of the list, a family such as email.*, event.NAME or *'
		return [{ field: `events.${index}`, message, code: 'invalid_enum_value', received: type }]
	})

/** Host names are resolved, and their addresses checked, at every delivery. */
export function urlProblems(url: string | undefined, allowPrivate: boolean): FieldError[] {
	if (url === undefined) return []
	const wrong = (message: string): FieldError[] => [
		{ field: 'url', message, code: 'invalid_string', received: url },
	]
	const parsed = URL.parse(url)
	if (!parsed || !/^https?:$/.test(parsed.protocol))
		return wrong('must be an address that starts with https:// or http://')
	if (parsed.username !== '' || parsed.password !== '')
		return [{ field: 'url', message: 'must not contain a password', code: 'custom' }]
	const host = parsed.hostname.replace(/^\[(.*)\]$/, '$1')
	const isPrivate = isIP(host) ? !isPublicAddress(host) : /(^|\.)localhost$/.test(host)
	return isPrivate && !allowPrivate
		? wrong('must not be in a private network, unless ALLOW_PRIVATE_WEBHOOKS is set')
		: []
}
