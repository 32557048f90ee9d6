import { type Document, followed, type Operation, type Schema } from './document.ts'
import { nameOf } from './names.ts'
import { comment, declared, memberOf, typeOf } from './types.ts'

/** An operation as a method of the client. */
export interface Method {
	/** `contacts.list`, or `send`. */
	name: string
	/** The method, the path and the words of client/routes.ts. */
	route: string
	/** Declarations of the types of its input and its answer, where they are no components. */
	types: string
	/** As a member of its group's interface. */
	signature: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete']

export function methodsOf(document: Document): Method[] {
	return Object.entries(document.paths).flatMap(([path, operations]) =>
		Object.entries(operations)
			.filter(([method]) => methods.includes(method))
			.map(([method, operation]) =>
				describe(document, `${method.toUpperCase()} ${path}`, operation),
			),
	)
}

function describe(document: Document, route: string, operation: Operation): Method {
	const path = route.split(' ')[1]!
	const input = inputOf(operation)
	const answer = answerOf(document, operation)
	const key = takesHeader(operation, 'Idempotency-Key') ? 'key' : ''
	const react = input?.type.startsWith('WithReact<') ? 'react' : ''
	const access = accessWords[operation['x-auth']]
	const faults = faultWords(document, operation)
	const words = [route, access, input?.word, react, key, answer.word, ...faults]
	const parameters = [
		...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: string`),
		...(input ? [`input${input.isOptional ? '?' : ''}: ${input.type}`] : []),
		`options?: ${takesHeader(operation, 'If-Match') ? 'ChangeOptions' : 'RequestOptions'}`,
	]
	const name = nameOf(operation.operationId, path)
	const text = comment(`${operation.summary}.`, operation.description, `\`${route}\``)
	return {
		name,
		route: words.filter((word) => word).join(' '),
		types: `${input?.declaration ?? ''}${answer.declaration}`,
		signature: `${text}${name.split('.').at(-1)}(${parameters.join(', ')}): ${answer.type}\n`,
	}
}

/** The credential that a route takes; none for a route that is open to everyone. */
const accessWords: Record<string, string> = {
	'secret key': 'secret',
	'public key': 'public',
	session: 'session',
	'secret key or session': 'either',
}

const pascal = (name: string) => name[0]!.toUpperCase() + name.slice(1)

const takesHeader = ({ parameters = [] }: Operation, header: string) =>
	parameters.some(({ in: place, name }) => place === 'header' && name === header)

function inputOf(operation: Operation) {
	const [media] = Object.entries(operation.requestBody?.content ?? {})
	return media ? bodyOf(operation, media[0], media[1].schema) : queryOf(operation)
}

function bodyOf({ operationId }: Operation, media: string, schema: Schema) {
	if (schema.type === 'string')
		return { word: `raw:${media}`, isOptional: false, type: 'string', declaration: '' }
	const isForm = media === 'multipart/form-data'
	const plain = named(`${pascal(operationId)}Input`, schema)
	return {
		word: isForm ? 'form' : 'body',
		isOptional: schema.type === 'object' && !schema.required?.length,
		...plain,
		type: withReact(schema, plain.type),
	}
}

/** Where a mail has HTML, a React Email element may be given instead. */
function withReact(schema: Schema, type: string) {
	if (schema.properties?.['body']?.type === 'string') return `WithReact<${type}>`
	const { items } = schema
	if (items && items.properties?.['body']?.type === 'string') return `WithReact<${type}[number]>[]`
	return type
}

function queryOf({ operationId, parameters = [] }: Operation) {
	const query = parameters.filter((parameter) => parameter.in === 'query')
	if (query.length === 0) return undefined
	const members = query.map(({ name, required = false, schema, description }) =>
		memberOf(name, { ...schema, ...(description && { description }) }, required),
	)
	const type = `${pascal(operationId)}Input`
	return {
		word: 'query',
		isOptional: query.every(({ required }) => !required),
		type,
		declaration: `export interface ${type} {\n${members.join('')}}\n\n`,
	}
}

function answerOf(document: Document, { operationId, responses }: Operation) {
	const successes = Object.entries(responses).filter(([status]) => Number(status) < 400)
	if (successes.some(([status]) => status === '303'))
		return { word: 'location', type: 'Promise<string>', declaration: '' }
	const contents = successes.flatMap(([, { content = {} }]) => Object.entries(content))
	if (contents.length === 0) return { word: '', type: 'Promise<void>', declaration: '' }
	const [media] = contents[0]!
	if (media === 'application/octet-stream')
		return { word: 'bytes', type: 'Promise<ArrayBuffer>', declaration: '' }
	if (media !== 'application/json')
		return { word: 'text', type: 'Promise<string>', declaration: '' }
	const schemas = contents.map(([, { schema }]) => unwrapped(document, schema))
	const [schema] = schemas
	const { type, declaration } = named(
		`${pascal(operationId)}Answer`,
		schemas.length > 1 ? { anyOf: schemas } : schema!,
	)
	const shape = followed(document, schema!)
	const items = listedIn(shape)
	return items === undefined
		? { word: shape.type === 'array' ? 'array' : '', type: `Promise<${type}>`, declaration }
		: { word: 'list', type: `Paged<${type}['${items}'][number], ${type}>`, declaration }
}

/** `503:status,checks` for a fault whose body is the route's answer. A proxy's body lacks these members. */
function faultWords(document: Document, { responses }: Operation) {
	const success = responses['200']?.content?.['application/json']?.schema.$ref
	if (success === undefined) return []
	const { required = [] } = followed(document, { $ref: success })
	return Object.entries(responses)
		.filter(
			([status, { content }]) =>
				Number(status) >= 400 && content?.['application/json']?.schema.$ref === success,
		)
		.map(([status]) => `${status}:${required.join(',')}`)
}

/** The client answers with what `{ success, data }` contains. */
function unwrapped(document: Document, schema: Schema) {
	const { properties } = followed(document, schema)
	return properties?.['success'] && properties['data'] ? properties['data'] : schema
}

/** The member of a page that has its items. */
function listedIn({ properties = {} }: Schema) {
	if (!('cursor' in properties || 'totalPages' in properties)) return undefined
	return Object.keys(properties).find((name) => properties[name]!.type === 'array')
}

function named(name: string, schema: Schema) {
	const type = typeOf(schema)
	if (schema.$ref !== undefined || /^[\w[\]]+$/.test(type)) return { type, declaration: '' }
	return { type: name, declaration: declared(name, schema) }
}
