import test from 'ava'
import { missing } from './helpers/furnished.ts'
import { type Said, setupRoutes } from './helpers/routes.ts'
import { type JsonSchema, wrongFor } from './helpers/schema-values.ts'

// Sends invalid input to every route of the document. The expectations follow from the document and from a
// few rules of the interface for single routes, in the tables below.

/** Missing or of the wrong type, these members get the interface's simple `{ error }`. */
const simple: Record<string, { missing: string[]; wrong: string[] }> = {
	'POST /contacts': { missing: ['email'], wrong: [] },
	'POST /templates': {
		missing: ['name', 'subject', 'body', 'from'],
		wrong: ['name', 'subject', 'body', 'from'],
	},
	'POST /segments': { missing: ['name'], wrong: ['name'] },
}
/**
 * An unknown status of campaigns is a 400, as everywhere; these parameters fall back to a default instead.
 */
const forgiving = /^GET (\/contacts\?|\/campaigns\?sort$)/
/** The furnished segment is static, and any condition of a static segment is ignored. */
const ignored = /^(POST|PATCH) \/segments\S* condition$/
const codes: Record<string, string> = {
	contact: 'CONTACT_NOT_FOUND',
	template: 'TEMPLATE_NOT_FOUND',
	campaign: 'CAMPAIGN_NOT_FOUND',
	workflow: 'WORKFLOW_NOT_FOUND',
}

test('each route refuses requests without a key, or with a wrong or unknown key', async (t) => {
	const { call, expect, problems, secured, withPublicKey, withSecretKey } = await setupRoutes(t)
	const nobody = { authorization: `Bearer sk_${'0'.repeat(64)}` }
	for (const route of secured) {
		const isSession = route.operation['x-auth'] === 'session'
		const wrong = route.operation['x-auth'] === 'public key' ? withSecretKey : withPublicKey
		const bare = await call(route, { headers: {} })
		const code = isSession ? 'UNAUTHORIZED' : 'INVALID_API_KEY'
		expect(`${route.name} without a key`, bare.status === 401 && bare.said.code === code, bare)
		for (const headers of [wrong, nobody]) {
			const got = await call(route, { headers })
			const isRight = got.status === 401 && got.said.code === 'INVALID_API_KEY'
			expect(`${route.name} with another key`, isRight, got)
		}
	}
	t.deepEqual(problems, [])
})

test('an unknown, foreign or malformed id is the 404 of its resource', async (t) => {
	const { call, expect, mine, problems, secured, theirs } = await setupRoutes(t)
	for (const route of secured)
		for (const parameter of route.ids) {
			const resource = parameter.schema['x-resource']!
			const isNumber = resource === 'version'
			const others = [isNumber ? '999' : missing, ...(isNumber ? [] : [theirs[resource]!])]
			for (const id of [...others, 'no-id']) {
				const got = await call(route, { ids: { ...mine, [resource]: id } })
				const isRight =
					got.status === 404 &&
					got.said.code === (codes[resource] ?? 'RESOURCE_NOT_FOUND') &&
					got.said.details?.resource === resource
				const isTyped =
					id === 'no-id' && route.name === 'POST /campaigns/{id}/send' && got.status === 422
				expect(`${route.name} with the ${resource} ${id}`, isRight || isTyped, got)
			}
		}
	t.deepEqual(problems, [])
})

test('a member of the wrong type is a 422 that names it', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const [name, schema] of Object.entries(route.body?.properties ?? {})) {
			const wrong = wrongFor(schema)
			if (wrong === undefined || ignored.test(`${route.name} ${name}`)) continue
			const got = await call(route, { body: { ...valid(route), [name]: wrong } })
			const isSimple = simple[route.name]?.wrong.includes(name)
			const isRight = isSimple
				? got.status === 400 && got.said.text !== undefined
				: got.status === 422 && got.said.code === 'VALIDATION_ERROR' && names(got.said, name)
			expect(`${route.name} ${name}: ${JSON.stringify(wrong)}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('a member that is missing is a 422 that names it as required', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const name of route.body?.required ?? []) {
			if (route.body!.properties![name]!.default !== undefined) continue
			const { [name]: _, ...body } = valid(route) as Record<string, unknown>
			const got = await call(route, { body })
			const isRight = simple[route.name]?.missing.includes(name)
				? got.status === 400 && got.said.text !== undefined
				: got.status === 422 &&
					got.said.errors.some(({ field, code }) => field === name && code === 'required')
			expect(`${route.name} without ${name}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('a text that is too long is a 422 that says so', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	for (const route of routes)
		for (const [name, schema] of Object.entries(route.body?.properties ?? {})) {
			const isEmail = schema.format === 'email'
			const maxLength = schema.maxLength ?? schema.anyOf?.find((one) => one.maxLength)?.maxLength
			if (!maxLength && !isEmail) continue
			const long = isEmail ? `${'a'.repeat(250)}@example.org` : 'x'.repeat(maxLength! + 1)
			const got = await call(route, { body: { ...valid(route), [name]: long } })
			const isRight =
				got.status === 422 &&
				(isEmail
					? names(got.said, name)
					: got.said.errors.some(({ field, code }) => field === name && code === 'too_big'))
			expect(`${route.name} ${name} of ${long.length}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

/** Date-times of a lax reading. Either Postgres or JavaScript can't read each of them. */
const oddTimes = [
	'0000-01-01T00:00:00Z',
	'2030-02-30T00:00:00Z',
	'2030-01-01T00:00:00+16:00',
	'2099-01-01T00:00:00+00',
	'2030-06-30T23:59:60Z',
	't'.repeat(1000),
]

test('a time that not everyone can read is refused by its name', async (t) => {
	const { call, expect, problems, routes, valid } = await setupRoutes(t)
	let asked = 0
	for (const route of routes) {
		const { delivery, ...body } = route.body?.properties ?? {}
		const members = { ...body, ...(delivery && { 'delivery.at': delivery.properties!['at']! }) }
		for (const [name, schema] of Object.entries(members))
			for (const time of isTime(schema) ? oddTimes : []) {
				asked += 1
				const given = name === 'delivery.at' ? { delivery: { at: time } } : { [name]: time }
				const got = await call(route, { body: { ...valid(route), ...given } })
				const isRight = [400, 422].includes(got.status) && names(got.said, name)
				expect(`${route.name} ${name}: ${time}`, isRight, got)
			}
		for (const { in: place, name, schema } of route.operation.parameters ?? [])
			for (const time of place === 'query' && isTime(schema) ? oddTimes : []) {
				asked += 1
				const got = await call(route, { query: `?${name}=${encodeURIComponent(time)}` })
				expect(`${route.name}?${name}=${time}`, got.status === 400 && names(got.said, name), got)
			}
	}
	t.deepEqual(problems, [])
	t.true(asked >= 60, `only ${asked} were asked`)
})

const isTime = (schema: JsonSchema): boolean =>
	schema.format === 'date-time' || (schema.anyOf?.some(isTime) ?? false)

test('an impossible query is a 400 that names it', async (t) => {
	const { call, expect, problems, routes } = await setupRoutes(t)
	for (const route of routes)
		for (const { in: place, name, schema } of route.operation.parameters ?? []) {
			const isFree = !schema.enum && schema.format !== 'uuid' && schema.type !== 'integer'
			if (place !== 'query' || isFree || forgiving.test(`${route.name}?${name}`)) continue
			if (route.path.startsWith('/mailbox')) continue
			const got = await call(route, { query: `?${name}=no-such-thing` })
			const isRight = got.status === 400 && got.said.code === 'BAD_REQUEST' && names(got.said, name)
			expect(`${route.name}?${name}=no-such-thing`, isRight, got)
		}
	t.deepEqual(problems, [])
})

test('every route that takes JSON refuses a body that is not a JSON object', async (t) => {
	const { call, expect, headersFor, problems, routes } = await setupRoutes(t)
	const texts = { '{"a":': 400, '[]': 422, '"x"': 422, null: 422 }
	for (const route of routes.filter(({ body, name }) => body && !simple[name]))
		for (const [text, status] of Object.entries(texts)) {
			const headers = { ...headersFor(route), 'content-type': 'application/json' }
			const got = await call(route, { body: text as never, headers })
			const isRight = got.status === status && got.said.code === 'VALIDATION_ERROR'
			expect(`${route.name} with ${text}`, isRight, got)
		}
	t.deepEqual(problems, [])
})

const names = ({ errors }: Said, name: string) =>
	errors.some(({ field }) => field === name || field.startsWith(`${name}.`))
