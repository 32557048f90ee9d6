import { p } from '@mikro-orm/core'

// Columns of almost every table. Dates have milliseconds, because JSON and JavaScript do: a finer value
// could not be compared with one that a caller has seen.
export const id = () => p.uuid().primary().defaultRaw('uuidv7()')
export const projectId = () => p.uuid()
export const createdAt = () => p.datetime(3).defaultRaw('now()')
export const updatedAt = () =>
	p
		.datetime(3)
		.defaultRaw('now()')
		.onUpdate(() => new Date())

/** The `traceparent` set on the connection, so that rows written by triggers have it too. */
export const currentTrace = `NULLIF(current_setting('tempost.trace'::text, true), ''::text)`
