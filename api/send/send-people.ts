import { isDeepStrictEqual } from 'node:util'
import type { ContactChange } from '../../db/emails/acceptance.ts'
import type { SendContext } from '../../db/emails/acceptance-contexts.ts'
import type { Recipient } from '../../mail/liquid/variables.ts'

/** The contact as it will be after this request. */
export interface Person extends Recipient {
	/** Its data before. */
	oldData: Record<string, unknown> | null
	/** Stored if the contact has no name by then. */
	name: { name: string } | null
	change: ContactChange
	/** An import that can be undone has changed it: see `isUndoable` in db/imports/import-undo.ts. */
	isUndoable: boolean
	/** Whether this request gives it other data, another subscription, or the same one where that counts. */
	isChanged: boolean
}

export type People = ReturnType<typeof createPeople>

/** The contacts of a request. Each message of a batch finds them as the message before it left them. */
export function createPeople(known: SendContext['contacts']) {
	const contacts = new Map(known.map((contact) => [contact.email, contact]))
	const people = new Map<string, Person>()

	function create(email: string, nextId: () => string): Person {
		const contact = contacts.get(email)
		return {
			id: contact?.id ?? nextId(),
			email,
			name: null,
			subscribed: contact?.subscribed ?? false,
			isUndoable: contact?.isUndoable ?? false,
			data: { ...contact?.data },
			oldData: contact?.data ?? null,
			change: { data: {}, removedKeys: [], subscribed: null },
			isChanged: false,
		}
	}

	return {
		all: () => [...people.values()],
		get: (email: string) => people.get(email)!,
		/** What one message changes, once for each of its addresses. */
		change(emails: string[], change: ContactChange, nextId: () => string) {
			for (const email of new Set(emails)) {
				const before = people.get(email)
				const person = before ?? create(email, nextId)
				people.set(email, person)
				apply(person, change)
				person.change = before ? together(before.change, change) : change
			}
		},
	}
}

/** The name of a recipient, unless the contact has one. Returns whether it was given. */
export function giveName(person: Person, name: string) {
	if (person.data['name'] !== undefined) return false
	person.name = { name }
	person.isChanged = person.oldData !== null
	person.data['name'] = name
	return true
}

function apply(person: Person, { data, removedKeys, subscribed }: ContactChange) {
	const isChanged =
		subscribed === false ||
		(subscribed === true && (!person.subscribed || person.isUndoable)) ||
		removedKeys.some((key) => Object.hasOwn(person.data, key)) ||
		Object.entries(data).some(
			([key, value]) =>
				!Object.hasOwn(person.data, key) || !isDeepStrictEqual(person.data[key], value),
		)
	if (isChanged && person.oldData) person.isChanged = true
	for (const key of removedKeys) delete person.data[key]
	if (removedKeys.includes('name')) person.name = null
	Object.assign(person.data, data)
	person.subscribed = subscribed ?? person.subscribed
}

/** Two changes as one. */
function together(first: ContactChange, second: ContactChange): ContactChange {
	const data = { ...first.data }
	for (const key of second.removedKeys) delete data[key]
	return {
		data: Object.assign(data, second.data),
		removedKeys: [...new Set([...first.removedKeys, ...second.removedKeys])],
		subscribed: second.subscribed ?? first.subscribed,
	}
}
