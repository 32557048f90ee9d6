import { shapes } from './shapes.ts'

interface Api {
	paths?: object
	webhooks?: object
	components?: { schemas?: object }
}
interface Schema {
	[keyword: string]: unknown
	title?: string
	description?: string
	enum?: unknown[]
	/** The documented schema, where the validator must accept more. */
	'x-documented'?: object
}
type Content = Record<string, { schema?: Schema }>
interface Operation {
	parameters?: { schema?: Schema }[]
	requestBody?: { content?: Content }
	responses?: Record<string, { content?: Content }>
}

/**
 * A schema with a title becomes a component of that name, and every use of it a reference, so that a
 * generated client has one type for it. Where a handler checks more than its schema says, the shape
 * of that name takes the schema's place in the document.
 */
export function withComponents<T extends Api>(api: T): T {
	const { add, referred, schemas } = collector()
	const inContent = (content: Content = {}) => {
		for (const media of Object.values(content))
			if (media.schema) media.schema = referred(media.schema)
	}
	for (const [name, schema] of Object.entries({ ...shapes, ...api.components?.schemas }))
		add(name, schema as Schema)
	for (const path of Object.values({ ...api.paths, ...api.webhooks }))
		for (const operation of Object.values(path as Record<string, Operation>)) {
			for (const parameter of operation.parameters ?? [])
				if (parameter.schema) parameter.schema = referred(parameter.schema)
			inContent(operation.requestBody?.content)
			for (const answer of Object.values(operation.responses ?? {})) inContent(answer.content)
		}
	const sorted = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
	return { ...api, components: { ...api.components, schemas: Object.fromEntries(sorted) } }
}

function collector() {
	const schemas: Record<string, Schema> = {}

	function add(name: string, given: Schema) {
		const schema = plain(given)
		if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
			throw new Error(`Two different schemas have the title ${name}`)
		schemas[name] = schema
	}

	/** A reference where the schema has a title. Examples belong to the body, and stay with it. */
	function referred(schema: Schema): Schema {
		const { title, examples: _, ...named } = schema
		if (title === undefined) return plain(schema)
		if (!(title in shapes)) add(title, named)
		const { description } = schema
		const isOwn = description !== undefined && description !== schemas[title]?.description
		return { $ref: `#/components/schemas/${title}`, ...(isOwn && { description }) }
	}

	function plain(given: Schema): Schema {
		const { then, else: other, 'x-documented': documented, ...rest } = given
		const either = then === undefined ? {} : { anyOf: [then, other] }
		const schema: Schema = {}
		for (const [keyword, value] of Object.entries({ ...rest, ...either, ...documented }))
			if (!left.has(keyword)) schema[keyword] = inner(keyword, value)
		const isText = schema.enum?.every((value) => typeof value === 'string')
		return isText ? { type: 'string', ...schema } : schema
	}

	function inner(keyword: string, value: unknown): unknown {
		if (typeof value !== 'object' || value === null) return value
		if (Array.isArray(value))
			return listed.has(keyword) ? value.map((one) => referred(one as Schema)) : value
		if (nested.has(keyword)) return referred(value as Schema)
		if (keyword !== 'properties') return value
		const members = Object.entries(value).map(([name, one]) => [name, referred(one as Schema)])
		return Object.fromEntries(members)
	}

	return { add, referred, schemas }
}

/** Members for the validator and for our code, not for readers. */
const left = new Set(['title', 'if', 'x-message'])
const listed = new Set(['anyOf', 'oneOf', 'allOf'])
const nested = new Set(['items', 'additionalProperties', 'not'])
