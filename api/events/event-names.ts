import type { FieldError } from '../errors.ts'
import { about, Line } from '../schemas.ts'

/** Trimmed before it is used; what it must not be says `eventNameProblem`. */
export const EventName = about(
	'The name of the event. Names of the service’s own events are reserved.',
	Line({ minLength: 1, maxLength: 255 }),
)

const reserved = /^(email\..*|contact\.(un)?subscribed|segment\.[^.]+\.(entry|exit))$/i

/** Names of which the service itself is the source; in any case, so that none can be mistaken for one. */
export const isReservedEvent = (name: string) => reserved.test(name)

/** What no schema can say of an event's name, after it was trimmed. */
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
