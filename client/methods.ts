import { TempostError } from './errors.ts'
import { paged } from './lists.ts'
import type { FileInput, RequestOptions } from './options.ts'
import { withRenderedReact } from './react.ts'
import { type Connection, perform, type Prepared } from './requests.ts'
import type { Route } from './route.ts'

type Query = Record<string, unknown>

/** The method of a route: its ids, then its input, then options. */
export function methodOf(connection: Connection, route: Route) {
	const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
	return (...given: unknown[]) => {
		const ids = given.slice(0, names.length)
		const [input, options] = route.input
			? given.slice(names.length)
			: [undefined, given[names.length]]
		const path = pathOf(route, names, ids)
		const send = async (more?: Query) =>
			perform(
				connection,
				await prepared(connection, route, path, more ?? input),
				options as RequestOptions | undefined,
			)
		return route.answer === 'list' ? paged(send, (input ?? {}) as Query) : send()
	}
}

/** An empty id would lead to another route. */
function pathOf({ name, path }: Route, names: string[], ids: unknown[]) {
	return names.reduce((filled, parameter, i) => {
		const id = ids[i]
		if (typeof id !== 'string' || id === '')
			throw new TempostError('BAD_REQUEST', `${name} needs ${parameter}`, {
				suggestion: `Pass it as a string that is not empty, as argument ${i + 1}.`,
			})
		return filled.replace(`{${parameter}}`, encodeURIComponent(id))
	}, path)
}

async function prepared(
	connection: Connection,
	route: Route,
	path: string,
	input: unknown,
): Promise<Prepared> {
	switch (route.input) {
		case 'query':
			return { route, path: `${path}${queryOf((input ?? {}) as Query)}` }
		case 'form':
			return { route, path, body: formOf(input as Record<string, FileInput>) }
		case 'raw':
			return { route, path, body: input as string, contentType: route.rawType }
		case 'body': {
			const body = route.takesReact ? await withRenderedReact(input, connection.render) : input
			return { route, path, body: JSON.stringify(body ?? {}), contentType: 'application/json' }
		}
		default:
			return { route, path }
	}
}

function queryOf(input: Query) {
	const query = new URLSearchParams()
	for (const [name, value] of Object.entries(input))
		for (const one of Array.isArray(value) ? value : [value])
			if (one !== undefined && one !== null)
				query.append(name, one instanceof Date ? one.toISOString() : String(one))
	return query.size > 0 ? `?${query.toString()}` : ''
}

function formOf(input: Record<string, FileInput>) {
	const form = new FormData()
	for (const [name, value] of Object.entries(input))
		if (value instanceof Blob && 'name' in value) form.append(name, value)
		else form.append(name, value instanceof Blob ? value : new Blob([value]), nameOf(name))
	return form
}

/** Only uploads of CSV are called `file`, and they are refused under another extension. */
const nameOf = (member: string) => (member === 'file' ? 'file.csv' : member)
