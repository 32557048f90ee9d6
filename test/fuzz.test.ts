import { randomInt } from 'node:crypto'
import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import {
	hostileTexts,
	hostileValue,
	nearly,
	pick,
	type Random,
	numbersFrom,
} from './helpers/hostile.ts'
import { type Route, setupRoutes } from './helpers/routes.ts'

// `npm run fuzz` does this for minutes and with more variety; this test makes some hundred requests per
// run. FUZZ_SEED repeats a run.

const rounds = 6
/** Routes that would destroy the run's own data. */
const harmful = /^DELETE \/users|\/reset$|regenerate-keys|logout/

test('every answer is one that the document describes', async (t) => {
	const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
	t.log(`FUZZ_SEED=${seed}`)
	const next = numbersFrom(seed)
	const { app, call, urlOf, expect, headersFor, mine, problems, routes, valid } =
		await setupRoutes(t)
	const isDescribed = answersOf((await app.inject('/openapi.json')).json())

	const fair = routes.filter(({ name }) => !harmful.test(name))
	const lasting = fair.filter(({ method }) => method !== 'DELETE')
	for (const route of [...Array.from({ length: rounds }, () => lasting).flat(), ...fair]) {
		const isWild = next(3) === 0
		const request = {
			ids: next(4) === 0 ? hostileIds(mine, next) : mine,
			query: queryFor(route, next),
			headers: {
				...headersFor(route),
				...(route.body && { 'content-type': 'application/json' }),
				...hostileHeaders(next),
			},
			...(route.body && {
				body: JSON.stringify(isWild ? nearly(route.body, next) : changed(valid(route), next)),
			}),
		}
		const answer = await call(route, request)
		const fault = isDescribed(route, answer)
		expect(`${route.name}: ${fault}`, !fault, {
			...request,
			ids: urlOf(route, request.ids),
			answer,
		})
	}
	t.deepEqual(problems, [])
})

interface Answer {
	status: number
	headers: Record<string, unknown>
	text: string
}

/** Returns the fault in an answer, if there is one. */
function answersOf(document: { components: object }) {
	const ajv = new Ajv2020({ strict: false, validateFormats: false })
	ajv.addSchema({ $id: 'document', components: document.components })
	return ({ operation }: Route, { status, headers, text }: Answer) => {
		const described = operation.responses[status]
		if (status === 500 || !described) return `${status} is not described`
		if (!described.content) return text === '' ? undefined : 'it has a body'
		const type = String(headers['content-type']).split(';', 1)[0]!
		const content = described.content[type]
		if (!content) return `${type} is not described`
		if (type !== 'application/json') return undefined
		const schema = JSON.parse(
			JSON.stringify(content.schema).replaceAll('"#/', '"document#/'),
		) as object
		return ajv.validate(schema, JSON.parse(text)) ? undefined : ajv.errorsText()
	}
}

/** A valid body with one member changed, at any depth. */
function changed(body: unknown, next: Random): unknown {
	if (typeof body !== 'object' || body === null || next(6) === 0) return hostileValue(next)
	const names = Object.keys(body)
	const name =
		next(5) === 0 ? pick(next, hostileTexts) : pick(next, names.length > 0 ? names : [''])
	const value = (body as Record<string, unknown>)[name]
	return { ...body, [name]: changed(value, next) }
}

const hostileIds = (mine: Record<string, string>, next: Random) =>
	Object.fromEntries(
		Object.entries(mine).map(([name, id]) => [
			name,
			next(2) === 0 ? id : pick(next, [...hostileTexts, 'x'.repeat(1100)]).toWellFormed() || '%',
		]),
	)

function queryFor({ operation }: Route, next: Random) {
	const query = new URLSearchParams()
	for (const { in: place, name, schema } of operation.parameters ?? [])
		for (let times = next(3); place === 'query' && times > 0; times--)
			query.append(name, textOf(nearly(schema, next)))
	if (next(4) === 0) query.append(pick(next, hostileTexts), pick(next, hostileTexts))
	return query.size > 0 ? `?${query.toString()}` : ''
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const hostileHeaders = (next: Random): Record<string, string> =>
	next(4) > 0
		? {}
		: pick(next, [
				{ 'content-type': 'text/plain' },
				{ 'content-type': 'application/json; charset=utf-16' },
				{ 'content-type': 'multipart/form-data' },
				{ 'x-project-id': 'nonsense' },
				{ 'idempotency-key': 'x'.repeat(256) },
				{ 'idempotency-key': `key ${next(5)}` },
				{ accept: 'text/html', 'accept-language': '*;q=2,,,' },
				{ cookie: 'session=x; session=y; =;' },
			])
