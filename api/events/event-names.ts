import type { FieldError } from '../errors.ts'
import { about, Line } from '../schemas.ts'

/** Trimmed before use; `eventNameProblem` checks the rest. */
export const EventName = about(
	'The name of the event. Names of the service’s own events are reserved.',
	Line({ minLength: 1, maxLength: 255 }),
)

/** Names may contain line separators, which a dot does not match without the flag `s`. */
const reserved = /^(email\..*|contact\.(un)?subscribed|segment\.[^.]+\.(entry|exit))$/is

/** Names of the service's own events, in any case, so that no other event can be confused with them. */
export const isReservedEvent = (name: string) => reserved.test(name)

/** Rules for a trimmed event name that a schema can't express. */
export function eventNameProblem(name: string, field: string): FieldError[] {
	if (name === '') return [{ field, message: 'must not be empty', code: 'too_small' }]
	if (!isReservedEvent(name)) return []
	return [
		{
			field,
			message: 'is reserved: only the service itself emits it',
			code: 'reserved_event',
			received: name,
		},
	]
}
