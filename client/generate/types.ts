import { lastPart, type Schema } from './document.ts'

/** Schemas as TypeScript. */
export function typeOf(schema: Schema | boolean | undefined): string {
	if (schema === undefined || typeof schema === 'boolean') return 'unknown'
	const { $ref, type, enum: values, anyOf, oneOf, allOf } = schema
	if ($ref !== undefined) return lastPart($ref)
	if ('const' in schema) return JSON.stringify(schema.const)
	if (values) return either(values.map((value) => JSON.stringify(value)))
	if (anyOf ?? oneOf) return either((anyOf ?? oneOf)!.map(typeOf))
	if (allOf) return allOf.map((one) => `(${typeOf(one)})`).join(' & ')
	if (Array.isArray(type)) return either(type.map((one) => typeOf({ ...schema, type: one })))
	return simpleType(schema)
}

function simpleType(schema: Schema): string {
	switch (schema.type) {
		case 'string':
			return schema.format === 'binary' ? 'FileInput' : textType(schema)
		case 'integer':
		case 'number':
			return 'number'
		case 'boolean':
		case 'null':
			return schema.type
		case 'array':
			return listType(schema)
		case 'object':
			return objectType(schema)
		default:
			return schema.properties ? objectType(schema) : 'unknown'
	}
}

/** A text with a literal beginning is one, so that a union with such a member can be narrowed. */
function textType({ pattern = '' }: Schema) {
	const beginning = /^\^((?:\w|\\\.)+)$/.exec(pattern)?.[1]
	return beginning === undefined ? 'string' : `\`${beginning.replaceAll('\\', '')}\${string}\``
}

function listType({ items, prefixItems }: Schema) {
	if (prefixItems) return `[${prefixItems.map(typeOf).join(', ')}]`
	const inner = typeOf(items)
	return /^\w+$/.test(inner) ? `${inner}[]` : `(${inner})[]`
}

/** `export interface …`, or a type if the schema is not simply an object with members. */
export function declared(name: string, schema: Schema) {
	const { $ref, enum: values, anyOf, oneOf, allOf, properties, additionalProperties } = schema
	const isPlain = !$ref && !values && !anyOf && !oneOf && !allOf && properties
	const isInterface =
		isPlain && Object.keys(properties).length > 0 && typeof additionalProperties !== 'object'
	const text = comment(schema.description)
	return isInterface
		? `${text}export interface ${name} ${typeOf(schema)}\n\n`
		: `${text}export type ${name} = ${typeOf(schema)}\n\n`
}

function objectType({ properties, required = [], additionalProperties }: Schema) {
	const others = additionalProperties !== false && typeOf(additionalProperties)
	if (!properties || Object.keys(properties).length === 0)
		return `Record<string, ${others || 'never'}>`
	const members = Object.entries(properties).map(([name, schema]) =>
		memberOf(name, schema, required.includes(name)),
	)
	const known = `{\n${members.join('')}}`
	return typeof additionalProperties === 'object'
		? `${known} & Record<string, ${typeOf(additionalProperties)}>`
		: known
}

/** Optional members may be undefined, so that callers need not build objects conditionally. */
export function memberOf(name: string, schema: Schema, isRequired: boolean) {
	const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
	const type = typeOf(schema)
	const orNone = isRequired || type === 'unknown' ? '' : ' | undefined'
	return `${comment(schema.description)}${key}${isRequired ? '' : '?'}: ${type}${orNone}\n`
}

export function comment(...texts: (string | undefined)[]) {
	const lines = texts
		.filter((text) => text !== undefined && text !== '')
		.map((text) => text!.replaceAll('*/', '*\\/').replaceAll(/\s*\n\s*/g, ' '))
	if (lines.length === 0) return ''
	return lines.length === 1
		? `/** ${lines[0]} */\n`
		: `/**\n${lines.map((line) => ` * ${line}\n`).join(' *\n')} */\n`
}

const either = (types: string[]) => [...new Set(types)].join(' | ')
