import test from 'ava'
import { Type } from '@fastify/type-provider-typebox'
import type { TSchema } from 'typebox'
import { decodeCursor, Email, encodeCursor, Id, Line, Nullable, PathId } from '../api/schemas.ts'
import { setup } from './helpers/app.ts'

const Named = Type.Object({ name: Type.Optional(Type.String()), email: Email })
const Recipient = Type.Union([Email, Named])
const Body = Type.Object({
	text: Type.Optional(Type.String({ minLength: 1, maxLength: 5 })),
	line: Type.Optional(Line({ maxLength: 10 })),
	count: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
	flag: Type.Optional(Type.Boolean()),
	email: Type.Optional(Email),
	id: Type.Optional(Id),
	kind: Type.Optional(Type.Union([Type.Literal('A'), Type.Literal('B')])),
	note: Type.Optional(Nullable(Type.String())),
	password: Type.Optional(Type.String({ minLength: 8 })),
	to: Type.Optional(Type.Union([Recipient, Type.Array(Recipient, { minItems: 1, maxItems: 3 })])),
	items: Type.Optional(Type.Array(Type.Object({ content: Type.String() }))),
	strict: Type.Optional(Type.Object({ known: Type.Integer() }, { additionalProperties: false })),
	step: Type.Optional(
		Type.Union([
			Type.Object({ type: Type.Literal('WAIT'), seconds: Type.Integer() }),
			Type.Object({ type: Type.Literal('EXIT'), reason: Type.String() }),
		]),
	),
	data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
})

/** The answer to a body: its errors as "field: code, message (received)", or the parsed body. */
async function setupChecked(t: Parameters<typeof setup>[0], body: TSchema = Body) {
	const { app } = await setup(t)
	const options = { bodyLimit: 2 ** 20, config: { auth: 'none' }, schema: { body } } as const
	app.post('/check', options, async ({ body }) => ({ body }))
	return async (payload: unknown) => {
		const response = await app.inject({
			method: 'POST',
			url: '/check',
			headers: { 'content-type': 'application/json' },
			payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
		})
		if (response.statusCode === 200) return response.json().body
		const { error } = response.json()
		t.is(response.statusCode, 422, response.body)
		return (error.errors as { field: string; code: string; message: string; received?: unknown }[])
			.map(({ field, code, message, received }) =>
				[`${field}: ${code}, ${message}`, JSON.stringify(received)].filter(Boolean).join(' '),
			)
			.join('\n')
	}
}

test('each fault is named once, with its field, its code and what was received', async (t) => {
	const check = await setupChecked(t)
	const cases: [object, string][] = [
		[{ text: '' }, 'text: too_small, must not be empty ""'],
		[{ text: 'abcdef' }, 'text: too_big, must have at most 5 characters "abcdef"'],
		[{ text: 5 }, 'text: invalid_type, must be a string "number"'],
		[{ text: null }, 'text: invalid_type, must be a string "null"'],
		[{ line: 'a\nb' }, 'line: invalid_string, must not contain line breaks "a\\nb"'],
		[{ count: '5' }, 'count: invalid_type, must be an integer "string"'],
		[{ count: 1.5 }, 'count: invalid_type, must be an integer "number"'],
		[{ count: 0 }, 'count: too_small, must be at least 1 0'],
		[{ count: 10 }, 'count: too_big, must be at most 9 10'],
		[{ flag: 'true' }, 'flag: invalid_type, must be a boolean "string"'],
		[{ email: 'anna' }, 'email: invalid_string, must be an email address "anna"'],
		[{ id: 'urn:uuid:0' }, 'id: invalid_string, must be a UUID "urn:uuid:0"'],
		[{ kind: 'C' }, 'kind: invalid_enum_value, must be one of A, B "C"'],
		[{ note: 5 }, 'note: invalid_type, must be a string or null "number"'],
		[{ password: 'short' }, 'password: too_small, must have at least 8 characters'],
		[{ items: [{ content: 'a' }, {}] }, 'items.1.content: required, is required'],
		[
			{ strict: { known: 1, odd: 2 } },
			'strict.odd: unrecognized_keys, is not allowed here, only known',
		],
		[{ data: [] }, 'data: invalid_type, must be an object "array"'],
	]
	for (const [body, expected] of cases) t.is(await check(body), expected)
	t.is(
		await check({ text: '', count: 0, id: 'x' }),
		[cases[0]![1], cases[7]![1], 'id: invalid_string, must be a UUID "x"'].join('\n'),
	)
})

test('for a union, the errors are those of the intended branch', async (t) => {
	const check = await setupChecked(t)
	const cases: [unknown, string][] = [
		['nobody', 'to: invalid_string, must be an email address "nobody"'],
		[{ email: 'nobody' }, 'to.email: invalid_string, must be an email address "nobody"'],
		[{ name: 'Anna' }, 'to.email: required, is required'],
		[5, 'to: invalid_union, must be a string, an object or an array "number"'],
		[['a@b.co', 'nobody'], 'to.1: invalid_string, must be an email address "nobody"'],
		[['a@b.co', 5], 'to.1: invalid_union, must be a string or an object "number"'],
		[['a@b.co', { email: 1 }], 'to.1.email: invalid_type, must be a string "number"'],
		[[], 'to: too_small, must not be empty "array"'],
		[Array(4).fill('a@b.co'), 'to: too_big, must have at most 3 items "array"'],
	]
	for (const [to, expected] of cases) t.is(await check({ to }), expected)
	t.is(
		await check({ step: { type: 'WAIT', seconds: 'x' } }),
		'step.seconds: invalid_type, must be an integer "string"',
	)
})

test('in a tree that contains itself the node is named', async (t) => {
	const Filter = Type.Object(
		{ field: Type.String(), value: Nullable(Type.Union([Type.String(), Type.Number()])) },
		{ additionalProperties: false },
	)
	const Tree = Type.Cyclic(
		{
			Tree: Type.Object({
				logic: Type.Union([Type.Literal('AND'), Type.Literal('OR')]),
				groups: Type.Array(Type.Union([Filter, Type.Object({ conditions: Type.Ref('Tree') })])),
			}),
		},
		'Tree',
	)
	const check = await setupChecked(t, Type.Object({ condition: Tree, other: Type.String() }))
	const inner = {
		logic: 'AND',
		groups: [{ field: 'a', value: 'x' }, { conditions: { logic: 'OR' } }],
	}
	t.is(
		await check({ condition: inner, other: 5 }),
		[
			'condition.groups.1.conditions.groups: required, is required',
			'other: invalid_type, must be a string "number"',
		].join('\n'),
	)
	t.is(
		await check({ condition: { logic: 'NOR', groups: [] }, other: '' }),
		'condition.logic: invalid_enum_value, must be one of AND, OR "NOR"',
	)
})

test('members that the schema does not name stay as they are, and no value is converted', async (t) => {
	const check = await setupChecked(t)
	const body = { extra: 1, data: { nested: [null, '5', { a: true }] }, note: null }
	t.deepEqual(await check(body), body)
	t.deepEqual(await check(''), {})
})

test('nothing reaches Postgres that it could not store', async (t) => {
	const check = await setupChecked(t)
	const message = 'must not contain NUL characters or broken Unicode'
	t.is(await check(String.raw`{"data":{"a":["x\u0000"]}}`), `data.a.0: invalid_string, ${message}`)
	t.is(await check(String.raw`{"data":{"a":"\ud83d"}}`), `data.a: invalid_string, ${message}`)
	t.is(await check(String.raw`{"data":{"\u0000":1}}`), `data: invalid_string, ${message}`)
	t.deepEqual(await check(String.raw`{"data":{"a":"\ud83d\ude00"}}`), { data: { a: '😀' } })
})

test('a number that overflows when parsed is refused by its field, in any body', async (t) => {
	const check = await setupChecked(t)
	const fault = 'invalid_type, must be a number that a double can hold'
	t.is(await check('{"data":{"a":1e400}}'), `data.a: ${fault}`)
	t.is(
		await check('{"data":{"a":[{"b":-1E+0999}],"c":1e400}}'),
		`data.a.0.b: ${fault}\ndata.c: ${fault}`,
	)
	t.is(
		await check(`{"data":{"long":"${'x'.repeat(1000)}","a":${'9'.repeat(400)}}}`),
		`data.a: ${fault}`,
	)
	t.is(await check('{"count":1e400}'), `count: ${fault}`)
	t.deepEqual(await check('{"data":{"a":1.7e308,"b":1e-400,"c":"1e400"}}'), {
		data: { a: 1.7e308, b: 0, c: '1e400' },
	})
})

test('a whole number that would come to be another is refused by its field, others are kept', async (t) => {
	const check = await setupChecked(t)
	const fault = 'invalid_type, must be a whole number of up to 15 digits: send a longer one as text'
	t.is(await check('{"data":{"a":[12345678901234567890]}}'), `data.a.0: ${fault}`)
	t.is(await check('{"data":{"a":-9007199254740993},"extra":1}'), `data.a: ${fault}`)
	t.deepEqual(
		await check(
			'{"data":{"a":9007199254740992,"b":1234567890123456,"c":"12345678901234567890","d":1.5e300}}',
		),
		{
			data: { a: 2 ** 53, b: 1_234_567_890_123_456, c: '12345678901234567890', d: 1.5e300 },
		},
	)
})

test('a number in a member that no schema names is ignored, however long it is', async (t) => {
	const check = await setupChecked(t)
	const extra = '"traceId":12345678901234567890,"more":[{"x":1e400}]'
	const body = await check(`{${extra},"to":{"email":"a@example.org","id":98765432109876543210}}`)
	t.is(body.to.email, 'a@example.org')
	t.deepEqual(body.more, [{ x: null }])
})

test('nesting that would exhaust a stack is malformed', async (t) => {
	const { app } = await setup(t)
	app.post('/deep', { config: { auth: 'none' } }, async () => 'read')
	const post = async (depth: number) => {
		const payload = `${'['.repeat(depth)}${']'.repeat(depth)}`
		const headers = { 'content-type': 'application/json' }
		return app.inject({ method: 'POST', url: '/deep', headers, payload })
	}
	t.is((await post(100)).statusCode, 200)
	t.is((await post(101)).statusCode, 400)
	const deepest = await post(30_000)
	t.is(deepest.statusCode, 400)
	t.is(deepest.json().error.code, 'VALIDATION_ERROR')
})

test('a great many faults cost little and are not all listed', async (t) => {
	const check = await setupChecked(t, Type.Object({ ids: Type.Array(Id) }))
	const listed: string = await check({ ids: Array(2000).fill(5) })
	t.is(listed.split('\n').length, 100)
	t.is((await check({ ids: Array(40_000).fill(5) })).split('\n').length, 1)
})

test('query strings are coerced, and wrong values are a 400', async (t) => {
	const { app } = await setup(t)
	const querystring = Type.Object({
		limit: Type.Integer({ minimum: 1, default: 20 }),
		subscribed: Type.Optional(Type.Boolean()),
		types: Type.Optional(Type.Array(Type.String())),
	})
	app.get(
		'/list',
		{ config: { auth: 'none' }, schema: { querystring } },
		async ({ query }) => query,
	)
	t.deepEqual((await app.inject('/list')).json(), { limit: 20 })
	t.deepEqual((await app.inject('/list?limit=5&subscribed=true&types=a')).json(), {
		limit: 5,
		subscribed: true,
		types: ['a'],
	})
	const { statusCode, json } = await app.inject('/list?limit=0&subscribed=maybe')
	t.is(statusCode, 400)
	t.is(json().error.code, 'BAD_REQUEST')
	t.like(json().error.errors, [
		{ field: 'limit', code: 'too_small' },
		{ field: 'subscribed', code: 'invalid_type' },
	])
})

test('an id in a path that is no UUID is the 404 of its resource, or 422 where it is typed', async (t) => {
	const { app } = await setup(t)
	for (const [url, id] of [
		['/people/:id', PathId('contact')],
		['/typed/:id', Id],
	] as const)
		app.get(
			url,
			{ config: { auth: 'none' }, schema: { params: Type.Object({ id }) } },
			async () => 'found',
		)
	const missing = await app.inject('/people/12')
	t.is(missing.statusCode, 404)
	t.like(missing.json().error, {
		code: 'CONTACT_NOT_FOUND',
		details: { resource: 'contact', id: '12' },
	})
	t.is((await app.inject('/typed/12')).statusCode, 422)
	t.is((await app.inject(`/typed/${crypto.randomUUID()}`)).statusCode, 200)
})

test('the simple errors of the specification come in the order in which a route names them', async (t) => {
	const { app } = await setup(t)
	const either = ['required' as const, 'invalid_type' as const]
	app.post(
		'/simple',
		{
			config: { auth: 'none', simpleErrors: { name: either, from: ['required'] } },
			schema: { body: Type.Object({ from: Email, name: Type.String() }) },
		},
		async () => 'made',
	)
	const post = async (payload: object) => {
		const response = await app.inject({ method: 'POST', url: '/simple', payload })
		return [response.statusCode, response.json().error]
	}
	t.deepEqual(await post({}), [400, 'name is required'])
	t.deepEqual(await post({ name: 5, from: 'a@b.co' }), [400, 'name must be a string'])
	t.deepEqual(await post({ name: 'n' }), [400, 'from is required'])
	t.is((await post({ name: 'n', from: 'nobody' }))[0], 422)
})

test('a cursor leads back to where it was made, and any other text is 400', (t) => {
	const Position = Type.Tuple([Type.String(), Id])
	const position: [string, string] = ['2026-01-01T00:00:00.000Z', crypto.randomUUID()]
	t.deepEqual(decodeCursor(Position, encodeCursor(position)), position)
	for (const cursor of ['', 'x', encodeCursor([]), encodeCursor(['a', 'b']), '%%%', 'bnVsbA'])
		t.like(
			t.throws(() => decodeCursor(Position, cursor)),
			{ status: 400, code: 'BAD_REQUEST' },
		)
})

test('only the declared members of a query string arrive', async (t) => {
	const { app } = await setup(t)
	const querystring = Type.Object({ limit: Type.Optional(Type.Integer()) })
	app.get(
		'/check',
		{ config: { auth: 'none' }, schema: { querystring } },
		async ({ query }) => query,
	)
	const answer = await app.inject('/check?limit=5&projectId=x&__proto__=y&$or=z&constructor=1')
	t.deepEqual(answer.json(), { limit: 5 })
})

test('a suggestion is a sentence, for any name of a member', async (t) => {
	const { app, withSecretKey } = await setup(t)
	for (const name of ['constructor', 'toString', '__proto__']) {
		const response = await app.inject({
			method: 'POST',
			url: '/contacts/bulk-delete',
			headers: { ...withSecretKey, 'content-type': 'application/json' },
			body: `{"mode":"query","filter":{},"${name}":1}`,
		})
		const { error } = response.json<{ error: { suggestion?: unknown; errors?: object[] } }>()
		t.is(typeof error.suggestion, 'string', `${name}: ${response.body}`)
	}
})
