import { p } from '@mikro-orm/core'

// Columns that nearly every table has. Dates are kept in milliseconds because that is what JSON and
// JavaScript carry: a finer value could not be compared with what a caller was shown.
export const id = () => p.uuid().primary().defaultRaw('uuidv7()')
export const projectId = () => p.uuid()
export const createdAt = () => p.datetime(3).defaultRaw('now()')
export const updatedAt = () =>
	p
		.datetime(3)
		.defaultRaw('now()')
		.onUpdate(() => new Date())

/** The `traceparent` that was set on the connection: what a trigger writes has it, too. */
export const noteTrace = `NULLIF(current_setting('tempost.trace'::text, true), ''::text)`
