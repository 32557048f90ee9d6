import AjvCompiler, { type BuildCompilerFromPool } from '@fastify/ajv-compiler'
import { isDateTime } from '../../db/iso-time.ts'
import { isEmail } from '../schemas.ts'
import type { Failure } from './unions.ts'
import { hasMoreValues } from './value-count.ts'

type Validate = ((data: unknown) => boolean) & { errors?: Failure[] }
type Outcome = true | { error: Failure[] }
type Compile = (route: { schema: object; httpPart?: string }) => Validate

// ajv-formats accepts "urn:uuid:", but Postgres does not.
const uuid = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i
const keywords = ['x-resource', 'x-message', 'x-documented']
const mostValuesForAllErrors = 4000
/**
 * One per process: every part of the API asks for its compilers, and creating one costs as much as
 * compiling a schema.
 */
const build = AjvCompiler()

/**
 * JSON values are not coerced: a number is not a string. Query strings, paths and headers are text, so
 * they are coerced. Unknown members of a body stay, unless its schema refuses them. Unknown members of a
 * query string are removed, because lists are filtered by it.
 *
 * The first fault ends a body's validation. Only then all faults are collected, and only for a body of
 * limited size: a list of a million wrong items would cause a million errors.
 */
export const buildValidator = ((externalSchemas, options) => {
	// The types of Fastify's compiler know neither what it is passed nor what it answers: a function of
	// the route, not of the schema.
	const compiler = (
		coerceTypes: false | 'array',
		allErrors: boolean,
		removeAdditional: false | 'all' = false,
	) => {
		const settings = {
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
				ajv.addFormat('date-time', isDateTime)
			},
		}
		let compile: Compile | undefined
		// Creating one takes 30 ms, and a process may never need it.
		return (route: Parameters<Compile>[0]) =>
			(compile ??= build(externalSchemas, settings as never) as unknown as Compile)(route)
	}
	const quick = compiler(false, false)
	const thorough = compiler(false, true)
	const coercing = compiler('array', true)
	const picking = compiler('array', true, 'all')
	const compile = (route: Parameters<Compile>[0]) => {
		if (route.httpPart === 'querystring') return finite(picking(route))
		if (route.httpPart !== 'body') return finite(coercing(route))
		const isValid = quick(route)
		let everyFault: Validate | undefined
		return (body: unknown) => {
			if (isValid(body)) return true
			if (hasMoreValues(body, mostValuesForAllErrors)) return { error: isValid.errors ?? [] }
			everyFault ??= thorough(route)
			everyFault(body)
			return { error: everyFault.errors ?? [] }
		}
	}
	return compile as unknown as ReturnType<BuildCompilerFromPool>
}) as BuildCompilerFromPool

/**
 * A number beyond a double's range (1e400) becomes infinite when text is coerced, and then passes all limits.
 * This check refuses it.
 */
const finite = (isValid: Validate) => (given: unknown) =>
	(isValid(given) && (!hasInfinity(given) || isValid(given))) || { error: isValid.errors ?? [] }

const hasInfinity = (given: unknown) =>
	Object.values(given as object).some((value) => value === Infinity || value === -Infinity)

let compileBody: Compile | undefined

/** For a part of a body whose schema depends on other data: the same rules, with all faults. */
export function bodyFaults(schema: object): (given: unknown) => Failure[] {
	let validate: ((given: unknown) => Outcome) | undefined
	return (given) => {
		compileBody ??= buildValidator({}, {}) as unknown as Compile
		validate ??= compileBody({ schema, httpPart: 'body' }) as (given: unknown) => Outcome
		const outcome = validate(given)
		return outcome === true ? [] : outcome.error
	}
}
