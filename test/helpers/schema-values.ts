import { randomUUID } from 'node:crypto'

/** The part of JSON Schema that the document uses for bodies. */
export interface JsonSchema {
	type?: string | string[]
	properties?: Record<string, JsonSchema>
	required?: string[]
	items?: JsonSchema
	anyOf?: JsonSchema[]
	enum?: unknown[]
	const?: unknown
	format?: string
	default?: unknown
	minLength?: number
	maxLength?: number
	minimum?: number
}

/** A minimal valid value. */
export function exampleOf(schema: JsonSchema): unknown {
	if (schema.default !== undefined) return schema.default
	if (schema.const !== undefined) return schema.const
	if (schema.enum) return schema.enum[0]
	if (schema.anyOf) return exampleOf(schema.anyOf[0]!)
	switch (schema.type) {
		case 'object':
			return Object.fromEntries(
				(schema.required ?? []).map((name) => [name, exampleOf(schema.properties![name]!)]),
			)
		case 'array':
			return schema.items ? [exampleOf(schema.items)] : []
		case 'boolean':
			return true
		case 'integer':
		case 'number':
			return schema.minimum ?? 1
	}
	if (schema.format === 'email') return 'a@example.org'
	if (schema.format === 'uuid') return randomUUID()
	if (schema.format === 'date-time') return new Date(Date.now() + 3_600_000).toISOString()
	return 'x'.repeat(schema.minLength ?? 1)
}

const typesOf = (schema: JsonSchema): string[] => {
	if (schema.anyOf) return schema.anyOf.flatMap(typesOf)
	if (schema.enum) return schema.enum.map((value) => typeof value)
	return schema.type === undefined ? [] : [schema.type].flat()
}

/** An invalid value; undefined: every value is valid. */
export function wrongFor(schema: JsonSchema): unknown {
	const types = typesOf(schema)
	if (types.length === 0) return undefined
	if (!types.includes('boolean')) return true
	if (!types.includes('object')) return { no: 'such thing' }
	return types.includes('string') ? undefined : 'no such thing'
}
