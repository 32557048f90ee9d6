// Ours on top of Liquid's: with its limits alone, a template with a row of 3,000 conditions took 30 s, not 1 s.

import { Context, CycleTag, defaultOperators, evalToken, toValue } from 'liquidjs'
import type { Emitter, FilterImplOptions, Liquid, Operators } from 'liquidjs'
import { exceeded, isInVain, renderLimits } from '../render-limits.ts'

// Liquid checks its limits between the nodes of a template. Within one node, filters may call each other
// and operators may form long chains. This file applies the same limits to them.

const longestDirection = 10_000
const tooMuch = 'memory alloc limit exceeded' // Liquid's words
export const tooSlow = 'template render limit exceeded' // Liquid's words
const longValue = 100 // from this length on, one call may cost more than a look at the clock
const scalarLength = 10

type Filter = Extract<FilterImplOptions, (...args: never[]) => unknown>
type Operator = (left: unknown, right: unknown, context: Context) => unknown

/** Memory for the intermediate forms of a list, per item: pairs, groups, comparisons. */
const unitsPerItem: Record<string, number> = {
	sort: 20,
	sort_natural: 20,
	sample: 40,
	uniq: 6,
	group_by: 50,
	group_by_exp: 50,
}

/** Filters whose results Liquid doesn't count, or counts too low. */
const unitsPerResult: Record<string, number> = {
	split: 4,
	slice: 1,
	slugify: 1,
	url_encode: 1,
	url_decode: 1,
	cgi_escape: 1,
	uri_escape: 1,
	escape: 1,
	escape_once: 1,
	xml_escape: 1,
	newline_to_br: 1,
}

const named = (names: string) => new Set(names.split(' '))
/** Filters that take lists as they are. All others convert them to text. */
const listFilters = named(
	'first last size default reverse sort sort_natural map sum compact concat push unshift pop ' +
		'shift slice where reject where_exp reject_exp group_by group_by_exp has has_exp find ' +
		'find_exp find_index find_index_exp uniq sample',
)
/** In the results of these, one item may occur several times. */
const growingFilters = named('concat push unshift group_by group_by_exp')
/** The arguments of these are evaluated for every item: names of members, conditions, formats. */
const directedFilters = named(
	'sort sort_natural map sum where reject where_exp reject_exp group_by group_by_exp has has_exp ' +
		'find find_exp find_index find_index_exp date',
)
const indentingFilters = named('json jsonify inspect')
/** How many of their arguments, from the first, are numbers that Liquid compares again for each character. */
const countsOf: Record<string, number> = { slice: 2, truncate: 1 }
const searchingFilters = named(
	'split replace replace_first replace_last remove remove_first remove_last',
)

/** A context's memory limit. Liquid calls `use` before it makes a list or a text. */
export const createMemory = () => ({ used: 0, use, charge })
type Memory = ReturnType<typeof createMemory>

/** A template may pass numbers as text. */
function use(this: Memory, units: number | string) {
	if (Number(units) > renderLimits().longestPiece) throw exceeded(tooMuch)
	this.charge(Number(units))
}

function charge(this: Memory, units: number) {
	if (!(units > 0)) return // ranges may end before they begin
	if (this.used + units > renderLimits().memory) throw exceeded(tooMuch)
	this.used += units
}

/**
 * A context's time limit, which Liquid and `step` compare with the current time. In its second half only
 * processor time counts, so no mail is cut short because the machine is busy.
 */
export function createDeadline() {
	const halfMs = renderLimits().renderMs / 2
	const halfAt = performance.now() + halfMs
	let usedByHalf: number | undefined
	return {
		check(now: number) {
			if (isInVain()) throw exceeded(tooSlow)
			if (now < halfAt) return
			usedByHalf ??= usedMs()
			if (now > halfAt + halfMs && usedMs() - usedByHalf > halfMs) throw exceeded(tooSlow)
		},
	}
}

function usedMs() {
	const { user, system } = process.threadCpuUsage()
	return (user + system) / 1000
}

/** Counts memory that Liquid itself does not count. */
export function chargeMemory(context: Context, units: number) {
	const memory = context.memoryLimit as unknown as Memory // the engine's contexts have no other
	memory.charge(units)
}

/** Compares with the time limit, which costs a look at the clock. */
export const look = (context: Context) => context.renderLimit.check(performance.now())

let steps = 0

/** Counts small but frequent steps. Most of them cost less than a look at the clock. */
export function step(context: Context) {
	if (++steps % 16 === 0) look(context)
}

export function limitFilters(engine: Liquid) {
	for (const [name, filter] of Object.entries(engine.filters)) {
		engine.registerFilter(
			name,
			typeof filter === 'function'
				? limited(name, filter)
				: { ...filter, handler: limited(name, filter.handler) },
		)
	}
}

function limited(name: string, filter: Filter): Filter {
	const writesOut = !listFilters.has(name)
	const isGrowing = growingFilters.has(name)
	const isDirected = directedFilters.has(name)
	const isSearching = searchingFilters.has(name)
	const perItem = unitsPerItem[name] ?? 0
	const perResult = unitsPerResult[name] ?? 0
	const counts = countsOf[name] ?? 0
	return function (value: unknown, ...given: unknown[]): unknown {
		const { context } = this
		const args = counts > 0 ? given.map((arg, at) => (at < counts ? numberOf(arg) : arg)) : given
		if (isLong(value) || args.some(isLong)) look(context)
		else step(context)
		if (writesOut) {
			const indent = indentingFilters.has(name) ? indentOf(args[0]) : 0
			for (const given of [value, ...args]) if (isList(given)) lengthOf(given, context, indent)
		}
		if (isDirected) for (const given of args) checkDirection(name, given, context)
		if (isSearching) chargeSearch(value, args[0], context)
		if (perItem > 0) chargeMemory(context, perItem * countOf(value))
		const result: unknown = filter.call(this, value, ...args)
		if (perResult > 0) chargeMemory(context, perResult * countOf(result))
		return isGrowing ? checked(result, context) : result
	}
}

/** A text becomes a number once: it may have 100,000 digits. Undefined stays, because it means a default. */
const numberOf = (value: unknown) => {
	const plain = toValue(value) as unknown
	return plain === undefined ? plain : Number(plain)
}

/** Some filters return their result directly, others a generator. */
function* checked(result: unknown, context: Context): Generator<unknown, unknown> {
	const list = yield result
	lengthOf(list, context)
	return list
}

/** Comparisons with a time limit. Lists too long to be written out are not compared. */
export const limitedOperators = Object.fromEntries(
	Object.entries(defaultOperators).map(([name, operator]) => [
		name,
		name === 'not' ? operator : limitedOperator(name, operator as Operator),
	]),
) as Operators

function limitedOperator(name: string, compare: Operator): Operator {
	const isContains = name === 'contains'
	const isEquality = name === '==' || name === '!='
	const isOrder = /[<>]/.test(name)
	return (left, right, context) => {
		if (isLong(left) || isLong(right)) look(context)
		else step(context)
		if (isContains) return contains(left, right, context) ?? compare(left, right, context)
		// Lists are compared item by item for equality; for order they are compared as text.
		const isDeep =
			(isEquality && Array.isArray(left) && Array.isArray(right)) ||
			(isOrder && (isList(left) || isList(right)))
		if (isDeep) for (const side of [left, right]) lengthOf(side, context)
		return compare(left, right, context)
	}
}

/** Liquid's own version is slow on long lists, so it handles only what it alone can compare. */
function contains(left: unknown, right: unknown, context: Context) {
	const whole = toValue(left) as unknown
	if (Array.isArray(whole))
		return typeof right === 'object' ? undefined : whole.some((item) => toValue(item) === right)
	if (isList(right)) lengthOf(right, context)
	chargeSearch(whole, right, context)
	return undefined
}

/** A text can be made such that each of its characters is compared with the whole search text. */
function chargeSearch(text: unknown, sought: unknown, context: Context) {
	chargeMemory(context, (lengthOf(text, context) * lengthOf(sought, context)) / 100)
}

function checkDirection(name: string, direction: unknown, context: Context) {
	if (lengthOf(direction, context) > longestDirection)
		throw new Error(`"${name}" takes arguments of at most ${longestDirection} characters`)
}

const isList = (value: unknown) => typeof value === 'object' && value !== null
const isLong = (value: unknown) =>
	isList(value) || (typeof value === 'string' && value.length > longValue)
const indentOf = (space: unknown) =>
	Math.min(10, typeof space === 'string' ? space.length : Number(space)) || 0

function countOf(value: unknown): number {
	const plain = toValue(value) as unknown
	if (typeof plain === 'string' || Array.isArray(plain)) return plain.length
	return isList(plain) ? Object.keys(plain as object).length : 1
}

// Values don't change during a rendering. The lengths are cached until it ends, for lists that contain
// each other.
const lengths = new WeakMap<Context, Map<unknown, number>>()

/** Returns the value. Throws if its printed form is longer than a template may print. */
export function printable(value: unknown) {
	const plain = toValue(value) as unknown
	if (isList(plain)) measure(plain as object, new Map(), 0, 1)
	return value
}

/** The length of a value's printed form. Throws if it is more than a template may print. */
export function lengthOf(value: unknown, context: Context, indent = 0): number {
	const plain = toValue(value) as unknown
	if (typeof plain === 'string') return plain.length
	if (!isList(plain)) return scalarLength
	let known = lengths.get(context)
	if (!known) lengths.set(context, (known = new Map()))
	return measure(plain as object, indent > 0 ? null : known, indent, 1)
}

function measure(list: object, known: Map<unknown, number> | null, indent: number, depth: number) {
	const before = known?.get(list)
	if (before !== undefined) return before
	let length = 0
	const add = (key: string, item: unknown) => {
		const plain = toValue(item) as unknown
		length += key.length + depth * indent + scalarLength
		if (typeof plain === 'string') length += plain.length
		else if (isList(plain)) length += measure(plain as object, known, indent, depth + 1)
		if (length > renderLimits().outputLength)
			throw exceeded('a list is longer than 10 MB when written out')
	}
	if (Array.isArray(list)) for (const item of list) add(',', item)
	else for (const [key, item] of Object.entries(list)) add(key, item)
	known?.set(list, length)
	return length
}

/** Liquid identifies a cycle by the whole text of its tag. */
export class LimitedCycle extends CycleTag {
	override *render(context: Context, output: Emitter): Generator<unknown, unknown, unknown> {
		const { token } = this
		const group: unknown = yield evalToken(this['group'], context)
		chargeMemory(context, lengthOf(group, context) + token.end - token.begin)
		return yield super.render(context, output)
	}
}
