import type { Condition, ConditionGroup, Filter } from '../../client/index.ts'
import { familyOf, isStating, isTimed, maxDepth, operatorsOf, units } from './condition.ts'

/** A condition from an address. Undefined: it is none, or the builder could not show it. */
export function readCondition(given: unknown, depth = 1): Condition | undefined {
	if (!isObject(given) || depth > maxDepth) return undefined
	const { logic, groups } = given
	if ((logic !== 'AND' && logic !== 'OR') || !Array.isArray(groups)) return undefined
	const read = groups.map((group) => readGroup(group, depth))
	const whole = read.filter((group) => group !== undefined)
	return whole.length > 0 && whole.length === read.length ? { logic, groups: whole } : undefined
}

function readGroup(given: unknown, depth: number): ConditionGroup | undefined {
	if (!isObject(given)) return undefined
	const { filters = [], conditions } = given
	if (!Array.isArray(filters)) return undefined
	const read = filters.map(readFilter)
	const whole = read.filter((filter) => filter !== undefined)
	if (whole.length < read.length) return undefined
	if (conditions === undefined || conditions === null)
		return whole.length > 0 ? { filters: whole } : undefined
	const tree = readCondition(conditions, depth + 1)
	return tree && { filters: whole, conditions: tree }
}

function readFilter(given: unknown): Filter | undefined {
	if (!isObject(given) || typeof given['field'] !== 'string') return undefined
	const { field, value } = given
	const family = familyOf(field)
	const operator = family && operatorsOf[family].find((one) => one === given['operator'])
	if (!operator) return undefined
	if (isStating(operator)) return { field, operator }
	if (!isTimed(operator)) return value === undefined ? undefined : { field, operator, value }
	const unit = units.find((one) => one === given['unit'])
	return unit && typeof value === 'number' ? { field, operator, value, unit } : undefined
}

const isObject = (given: unknown): given is Record<string, unknown> =>
	typeof given === 'object' && given !== null && !Array.isArray(given)
