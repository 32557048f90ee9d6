/** The parts of an OpenAPI document that the generator reads. */
export interface Schema {
	$ref?: string
	type?: string | string[]
	description?: string
	format?: string
	pattern?: string
	enum?: unknown[]
	const?: unknown
	properties?: Record<string, Schema>
	required?: string[]
	items?: Schema | false
	prefixItems?: Schema[]
	additionalProperties?: Schema | boolean
	anyOf?: Schema[]
	oneOf?: Schema[]
	allOf?: Schema[]
}

type Content = Record<string, { schema: Schema }>

export interface Operation {
	operationId: string
	summary: string
	description?: string
	'x-auth': string
	parameters?: {
		in: string
		name: string
		required?: boolean
		description?: string
		schema: Schema
	}[]
	requestBody?: { content: Content }
	responses: Record<string, { content?: Content }>
}

export interface Document {
	paths: Record<string, Record<string, Operation>>
	components: { schemas: Record<string, Schema> }
}

export const lastPart = ($ref: string) => $ref.slice($ref.lastIndexOf('/') + 1)

/** The schema itself, or the component that it refers to. */
export function followed({ components }: Document, schema: Schema): Schema {
	return schema.$ref === undefined ? schema : components.schemas[lastPart(schema.$ref)]!
}
