import Type from 'typebox'
import { type Condition, maxDepth, maxFilters } from '../../db/conditions/condition.ts'
import { type FieldError, invalid, tooMuchToRead } from '../errors.ts'
import { notKnown } from '../requests/field-errors.ts'
import { filterProblems } from './condition-filters.ts'

/** The largest condition that is stored: it is read and planned with every use. */
const maxLength = 64 * 1024
const maxErrors = 100

/**
 * A condition tree in a body, for the documentation. `checkCondition` validates it, so that errors
 * name their node in the same way at every depth, depth can't overload the validator, and an
 * ignored tree is not checked.
 */
export const ConditionTree = Type.Unsafe<unknown>({ title: 'Condition' })

export const conditionExample = {
	logic: 'AND',
	groups: [
		{
			filters: [
				{ field: 'data.plan', operator: 'equals', value: 'pro' },
				{ field: 'event.login', operator: 'triggeredWithin', value: 30, unit: 'days' },
			],
		},
	],
}

/** The tree as a condition, or 422 with the path of each node that is wrong. */
export function checkCondition(given: unknown, field: string): Condition {
	const errors = conditionProblems(given, field)
	if (errors.length > 0) throw invalid(...errors)
	return given as Condition
}

export function conditionProblems(given: unknown, field: string): FieldError[] {
	const seen = { errors: [] as FieldError[], filters: 0 }
	checkTree(given, field, 1, seen)
	const errors = seen.errors.slice(0, maxErrors)
	if (errors.length === 0 && seen.filters > maxFilters)
		errors.push(tooBig(field, `must have at most ${maxFilters} filters; it has ${seen.filters}`))
	if (errors.length === 0 && JSON.stringify(given).length > maxLength)
		errors.push(tooBig(field, `must not be longer than ${maxLength} characters`))
	return errors
}

interface Seen {
	errors: FieldError[]
	filters: number
}

function checkTree(tree: unknown, path: string, depth: number, seen: Seen) {
	if (!isObject(tree)) return void seen.errors.push(wrongType(path, 'an object', tree))
	if (depth > maxDepth)
		return void seen.errors.push(tooBig(path, `is nested more than ${maxDepth} deep`))
	refuseOthers(tree, ['logic', 'groups'], path, seen.errors)
	const { logic, groups } = tree
	if (logic === undefined) seen.errors.push(missing(`${path}.logic`))
	else if (logic !== 'AND' && logic !== 'OR')
		seen.errors.push({
			field: `${path}.logic`,
			message: 'must be one of AND, OR',
			code: 'invalid_enum_value',
		})
	if (groups === undefined) return void seen.errors.push(missing(`${path}.groups`))
	if (!Array.isArray(groups))
		return void seen.errors.push(wrongType(`${path}.groups`, 'an array', groups))
	if (groups.length === 0) seen.errors.push(tooSmall(`${path}.groups`))
	for (const [index, group] of groups.entries()) {
		if (seen.errors.length >= maxErrors) return
		checkGroup(group, `${path}.groups.${index}`, depth, seen)
	}
}

function checkGroup(group: unknown, path: string, depth: number, seen: Seen) {
	if (!isObject(group)) return void seen.errors.push(wrongType(path, 'an object', group))
	refuseOthers(group, ['filters', 'conditions'], path, seen.errors)
	const { filters = [], conditions } = group
	const hasTree = conditions !== undefined && conditions !== null
	if (!Array.isArray(filters))
		return void seen.errors.push(wrongType(`${path}.filters`, 'an array', filters))
	if (filters.length === 0 && !hasTree) seen.errors.push(tooSmall(`${path}.filters`))
	for (const [index, filter] of filters.entries()) {
		seen.filters += 1
		if (seen.errors.length >= maxErrors || seen.filters > maxFilters) continue
		const at = `${path}.filters.${index}`
		if (!isObject(filter)) seen.errors.push(wrongType(at, 'an object', filter))
		else {
			refuseOthers(filter, ['field', 'operator', 'value', 'unit'], at, seen.errors)
			seen.errors.push(...filterProblems(filter, at))
		}
	}
	if (hasTree) checkTree(conditions, `${path}.conditions`, depth + 1, seen)
}

function refuseOthers(node: object, known: string[], path: string, errors: FieldError[]) {
	for (const key of Object.keys(node)) {
		if (known.includes(key) || errors.length >= maxErrors) continue
		errors.push({
			field: `${path}.${key}`,
			message: notKnown(known),
			code: 'unrecognized_keys',
		})
	}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value)

const missing = (field: string): FieldError => ({ field, message: 'is required', code: 'required' })
const tooBig = (field: string, message: string): FieldError => ({ field, message, code: 'too_big' })
const tooSmall = (field: string): FieldError => ({
	field,
	message: 'must not be empty',
	code: 'too_small',
})
const wrongType = (field: string, type: string, value: unknown): FieldError => ({
	field,
	message: `must be ${type}`,
	code: 'invalid_type',
	received: value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value,
})

export const tooSlow = (
	suggestion = 'Use fewer filters, or a segment with trackMembership, which stores its members.',
) => tooMuchToRead('This condition takes too long to evaluate', suggestion)
