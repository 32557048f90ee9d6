import type { FastifyInstance } from 'fastify'

declare module 'fastify' {
	interface FastifyContextConfig {
		/** Clients that serialise an unset member as null mean that it is absent. */
		nullIsAbsent?: true
	}
}

export interface Shape {
	properties?: Record<string, Shape>
	required?: string[]
	items?: Shape
	anyOf?: Shape[]
	oneOf?: Shape[]
	then?: Shape
	else?: Shape
}

/** Runs after the body was read and before it is validated. */
export function takeNullsForAbsent(app: FastifyInstance) {
	app.addHook('preValidation', async ({ body, routeOptions }) => {
		if (routeOptions.config.nullIsAbsent) dropNulls(body, routeOptions.schema?.body as Shape)
	})
}

/**
 * Removes null members that a schema names but does not require. A null under a caller's own name, such as
 * a field of `data`, has a meaning and stays.
 */
export function dropNulls(value: unknown, shape: Shape) {
	if (typeof value !== 'object' || value === null) return
	if (Array.isArray(value)) {
		if (shape.items) for (const item of value) dropNulls(item, shape.items)
	} else {
		const members = value as Record<string, unknown>
		for (const [name, inner] of Object.entries(shape.properties ?? {})) {
			if (!Object.hasOwn(members, name)) continue
			if (members[name] !== null) dropNulls(members[name], inner)
			else if (!shape.required?.includes(name)) delete members[name]
		}
	}
	for (const other of [...(shape.anyOf ?? []), ...(shape.oneOf ?? []), shape.then, shape.else])
		if (other) dropNulls(value, other)
}
