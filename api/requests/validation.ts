import AjvCompiler, { type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import { isEmail } from '../schemas.ts'
import type { Failure } from './unions.ts'

type Validate = ((data: unknown) => boolean) & { errors?: Failure[] }
type Outcome = true | { error: Failure[] }
type Compile = (route: { schema: object; httpPart?: string }) => Validate

// ajv-formats lets "urn:uuid:" pass, which Postgres does not take.
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const keywords = ['x-resource', 'x-message', 'x-documented']
const maxNodesForAllErrors = 5000
/** One for the process: every part of the API asks for its compilers, and each costs as much as what it compiles. */
const build = AjvCompiler()

/**
 * What JSON says is taken at its word: a number is no string. Query strings, paths and headers are
 * text, so they are coerced. Members of a body that no schema names stay: a schema that minds says so
 * itself. Of a query string only what its schema names is left, for lists are filtered by it.
 *
 * The first fault of a body ends its validation. Only then all faults are collected, and only from a
 * body of reasonable size: a list of a million wrong items would make some million complaints.
 */
export const buildValidator = ((externalSchemas, options) => {
	// The types of Fastify's compiler know neither what it is passed nor what it answers: a function of
	// the route, not of the schema.
	const compiler = (
		coerceTypes: false | 'array',
		allErrors: boolean,
		removeAdditional: false | 'all' = false,
	) =>
		build(externalSchemas, {
			...options,
			customOptions: {
				removeAdditional,
				useDefaults: true,
				coerceTypes,
				allErrors,
				verbose: true,
				keywords,
				// Tuples of a fixed length and unions of types are what TypeBox writes.
				strictTuples: false,
				allowUnionTypes: true,
			},
			onCreate: (ajv: { addFormat(name: string, format: unknown): void }) => {
				ajv.addFormat('email', isEmail)
				ajv.addFormat('uuid', uuid)
			},
		} as never) as unknown as Compile
	const quick = compiler(false, false)
	const thorough = compiler(false, true)
	const coercing = compiler('array', true)
	const picking = compiler('array', true, 'all')
	const compile = (route: Parameters<Compile>[0]) => {
		if (route.httpPart === 'querystring') return finite(picking(route))
		if (route.httpPart !== 'body') return finite(coercing(route))
		const isValid = quick(route)
		const everyFault = thorough(route)
		return (body: unknown) => {
			if (isValid(body)) return true
			if (countNodes(body) > maxNodesForAllErrors) return { error: isValid.errors ?? [] }
			everyFault(body)
			return { error: everyFault.errors ?? [] }
		}
	}
	return compile as unknown as ReturnType<BuildCompilerFromPool>
}) as BuildCompilerFromPool

/**
 * What is no number of JSON (1e400) becomes infinity where text is coerced, and then no limit is asked
 * about it. Looked at again, it is no number.
 */
const finite = (isValid: Validate) => (given: unknown) =>
	(isValid(given) && (!hasInfinity(given) || isValid(given))) || { error: isValid.errors ?? [] }

const hasInfinity = (given: unknown) =>
	Object.values(given as object).some((value) => value === Infinity || value === -Infinity)

let compileBody: Compile | undefined

/** For the part of a body whose schema depends on what else is known: the same rules, and all faults. */
export function bodyFaults(schema: object): (given: unknown) => Failure[] {
	let validate: ((given: unknown) => Outcome) | undefined
	return (given) => {
		compileBody ??= buildValidator({}, {}) as unknown as Compile
		validate ??= compileBody({ schema, httpPart: 'body' }) as (given: unknown) => Outcome
		const outcome = validate(given)
		return outcome === true ? [] : outcome.error
	}
}

function countNodes(value: unknown): number {
	let count = 0
	const waiting = [value]
	while (waiting.length > 0 && count <= maxNodesForAllErrors) {
		const next = waiting.pop()
		count++
		if (typeof next === 'object' && next !== null)
			for (const inner of Object.values(next)) waiting.push(inner)
	}
	return count
}
