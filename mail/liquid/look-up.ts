import { Drop } from 'liquidjs'
import { isMarkup } from './printing.ts'

export type Variables = Record<string, unknown>

/**
 * Looks a template's variable up: first by path, then as a top-level key that contains dots, then the same
 * within the contact's data. Null counts as unknown.
 */
export function lookUp(variables: Variables, path: readonly (string | number)[]): unknown {
	const { data } = variables
	const found = follow(variables, path)
	if (found !== undefined) return found
	const dotted = path.length > 1 ? path.join('.') : undefined
	return (
		(dotted === undefined ? undefined : readProperty(variables, dotted)) ??
		follow(data, path) ??
		(dotted === undefined ? undefined : readProperty(data, dotted)) ??
		(path[0] === 'data' && path.length > 2
			? readProperty(data, path.slice(1).join('.'))
			: undefined)
	)
}

export function follow(value: unknown, path: readonly (string | number)[]): unknown {
	for (const key of path) value = readProperty(value, key)
	return value ?? undefined
}

/**
 * One step of a path. Only own properties are visible: no prototypes, and no `size` of an object, since
 * Liquid would count its members and print a number for an unknown `order.size`.
 */
export function readProperty(value: unknown, key: unknown): unknown {
	if (value === null || value === undefined) return undefined
	if (typeof value === 'object') {
		if (Array.isArray(value)) return readItem(value, key)
		if (value instanceof Drop) return readDrop(value, key)
		return Object.hasOwn(value, key as PropertyKey)
			? (value as Record<PropertyKey, unknown>)[key as PropertyKey]
			: undefined
	}
	return typeof value === 'string' && key === 'size' ? value.length : undefined
}

function readItem(items: unknown[], key: unknown) {
	if (key === 'size') return items.length
	if (key === 'first') return items[0]
	if (key === 'last') return items.at(-1)
	return Number.isInteger(Number(key)) ? items.at(Number(key)) : undefined
}

/** `forloop` and the like, and captured text: made by Liquid, never by customers. */
function readDrop(drop: Drop, key: unknown) {
	if (isMarkup(drop)) return readProperty(drop.html, key)
	const member: unknown = drop[String(key)]
	return typeof member === 'function' ? (member.call(drop) as unknown) : member
}
