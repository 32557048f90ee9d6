export interface Schema {
	[keyword: string]: unknown
	$ref?: string
	description?: string
	properties?: Record<string, Schema>
	items?: Schema
	additionalProperties?: Schema | boolean
	anyOf?: Schema[]
	oneOf?: Schema[]
	allOf?: Schema[]
}
interface Media {
	schema: Schema
	example?: unknown
	examples?: Record<string, { value: unknown }>
}
interface Operation {
	summary?: string
	description?: string
	operationId?: string
	tags?: string[]
	'x-auth': string
	security?: Record<string, unknown>[]
	parameters?: {
		in: string
		name: string
		required?: boolean
		description?: string
		schema: Schema
	}[]
	requestBody?: { content: Record<string, Media> }
	responses: Record<string, Answer>
}
interface Answer {
	headers: Record<string, { $ref: string }>
	content?: Record<string, Media>
}
export interface Document {
	openapi: string
	info: { title: string; version: string }
	tags: { name: string; description?: string }[]
	paths: Record<string, Record<string, Operation>>
	components: { schemas: Record<string, Schema> } & Record<string, Record<string, unknown>>
}

export const operationsOf = ({ paths }: Document) =>
	Object.entries(paths).flatMap(([path, methods]) =>
		Object.entries(methods).map(([method, operation]) => ({
			path,
			method,
			operation,
			name: `${method.toUpperCase()} ${path}`,
		})),
	)

export const bodiesOf = (document: Document) =>
	operationsOf(document).flatMap(({ name, operation }) =>
		Object.entries(operation.requestBody?.content ?? {}).map(([type, media]) => ({
			name: `${name} (${type})`,
			schema: media.schema,
			examples: [
				...(media.example === undefined ? [] : [media.example]),
				...Object.values(media.examples ?? {}).map(({ value }) => value),
				...((media.schema['examples'] as unknown[] | undefined) ?? []),
			],
		})),
	)

export function componentOf(document: Document, { $ref }: Schema) {
	const name = $ref?.split('/').at(-1)
	return name === undefined ? undefined : { name, schema: document.components.schemas[name]! }
}

const childrenOf = (schema: Schema): [string, Schema][] => [
	...Object.entries(schema.properties ?? {}).map(([name, one]): [string, Schema] => [
		`.${name}`,
		one,
	]),
	...(schema.items ? [['[]', schema.items] as [string, Schema]] : []),
	...(typeof schema.additionalProperties === 'object'
		? [['{}', schema.additionalProperties] as [string, Schema]]
		: []),
	...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) =>
		(list ?? []).map((one): [string, Schema] => ['', one]),
	),
]

/** A schema and all schemas in it, with the path to each. Components are entered if `follow` says so. */
export function* walk(
	schema: Schema,
	path: string,
	follow?: { document: Document; seen?: Set<string> },
): Generator<{ schema: Schema; path: string }> {
	yield { schema, path }
	for (const [step, inner] of childrenOf(schema)) yield* walk(inner, path + step, follow)
	const component = follow && componentOf(follow.document, schema)
	if (!component) return
	const seen = (follow.seen ??= new Set())
	if (seen.has(component.name)) return
	seen.add(component.name)
	yield* walk(component.schema, component.name, follow)
}

/** Every schema of the document except the components themselves, which are entered by name. */
export function* schemasOf(document: Document) {
	for (const { name, operation } of operationsOf(document)) {
		for (const parameter of operation.parameters ?? [])
			yield* walk(parameter.schema, `${name} ?${parameter.name}`)
		for (const [type, { schema }] of Object.entries(operation.requestBody?.content ?? {}))
			yield* walk(schema, `${name} ${type} `)
		for (const [status, { content = {} }] of Object.entries(operation.responses))
			for (const { schema } of Object.values(content)) yield* walk(schema, `${name} ${status} `)
	}
	for (const [name, schema] of Object.entries(document.components.schemas))
		yield* [...walk(schema, name)].slice(1)
}

/** The schema with components inlined, except those within themselves. Of alternatives, the first. */
export function resolved(document: Document, schema: Schema, within: string[] = []): Schema {
	const component = componentOf(document, schema)
	if (component && within.includes(component.name)) return {}
	if (component) return resolved(document, component.schema, [...within, component.name])
	if (schema.oneOf) return resolved(document, schema.oneOf[0]!, within)
	const inner = (one: Schema) => resolved(document, one, within)
	const { properties, items, anyOf } = schema
	return {
		...schema,
		...(properties && {
			properties: Object.fromEntries(
				Object.entries(properties).map(([name, one]) => [name, inner(one)]),
			),
		}),
		...(items && { items: inner(items) }),
		...(anyOf && { anyOf: anyOf.map(inner) }),
	}
}
