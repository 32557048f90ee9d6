import { ApiError } from '../errors.ts'
import { createBuilder } from './json-building.ts'

interface JsonLimits {
	maxDepth: number
	/** For items and members together. */
	maxValues: number
	maxMembers: number
}

/** For bodies of callers: 64 KB of data and 1,000 recipients have fewer. */
const ofCallers: JsonLimits = { maxDepth: 100, maxValues: 50_000, maxMembers: 20_000 }
const maxFaults = 10
/** Longer names are cut in the paths of errors. */
const maxNameBytes = 200
/** Strings, numbers, brackets and commas that are read without a pause. */
const tokensAtOnce = 512

export interface JsonFault {
	kind: 'reserved name' | 'unstorable' | 'too large' | 'rounded'
	path: string[]
}

const [space, quote, backslash, comma, minus] = [0x20, 0x22, 0x5c, 0x2c, 0x2d]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]

/**
 * Reads JSON once, byte by byte, while its value is built. Refuses values beyond our limits, and finds
 * values that JSON.parse loses, or accepts although Postgres would not. Invalid JSON is left to the
 * parser. Whenever it yields, there can be a pause. Within a string, a number or a run of spaces there is
 * none: on an event loop that serves others each has at most a megabyte, which takes up to 15 ms. Larger
 * bodies are read on threads (api/send/large-send.ts).
 */
export function* readJson(
	bytes: Buffer,
	{ maxDepth, maxValues, maxMembers } = ofCallers,
): Generator<void, { value: unknown; faults: JsonFault[] }> {
	const builder = createBuilder(bytes)
	const faults: JsonFault[] = []
	const isObject = new Uint8Array(maxDepth + 1)
	const indexes = new Uint32Array(maxDepth + 1)
	const nameStarts = new Uint32Array(maxDepth + 1)
	const nameEnds = new Uint32Array(maxDepth + 1)
	let depth = 0
	let values = 0
	let members = 0
	let isNameNext = false
	let tokens = 0

	for (let at = 0; at < bytes.length; at++) {
		const byte = bytes[at]!
		if (byte <= space) continue
		if (++tokens % tokensAtOnce === 0) yield
		if (byte === quote) {
			const end = endOfString(bytes, at)
			if (isNameNext) nameFound(at, end)
			else if (end.isUnstorable) report('unstorable', depth)
			at = end.at
		} else if (byte === openBrace || byte === openBracket) open(at, byte === openBrace)
		else if (byte === closeBrace || byte === closeBracket) close(at)
		else if (byte === comma) next(at)
		else if (isDigit(byte) || byte === minus) {
			const end = endOfNumber(bytes, at)
			const kind = faults.length < maxFaults && numberFault(bytes, at, end)
			if (kind) report(kind, depth)
			at = end - 1
		}
	}
	return { value: builder.end(), faults }

	function open(at: number, object: boolean) {
		if (depth === maxDepth) throw tooDeep(maxDepth)
		builder.opened(at)
		depth++
		isObject[depth] = Number(object)
		indexes[depth] = 0
		nameEnds[depth] = 0
		isNameNext = object
		countValue()
	}

	function close(at: number) {
		if (depth > 0) depth--
		builder.closed(at, parentName)
		isNameNext = false
	}

	function next(at: number) {
		builder.comma(at)
		indexes[depth]!++
		isNameNext = isObject[depth] === 1
		countValue()
	}

	function countValue() {
		if (++values > maxValues) throw tooMany('values', { maxValues })
	}

	function nameFound(at: number, end: StringEnd) {
		if (++members > maxMembers) throw tooMany('members', { maxMembers })
		isNameNext = false
		nameStarts[depth] = at
		nameEnds[depth] = end.at + 1
		if (end.isUnstorable) report('unstorable', depth - 1)
		else if (isReserved()) report('reserved name', depth)
	}

	/** Names that could change all objects' prototype when an object is copied carelessly. */
	function isReserved() {
		const length = nameEnds[depth]! - nameStarts[depth]!
		// Each of its characters takes up to six bytes.
		if (length < 11 || length > 66) return false
		const name = nameAt(depth)
		if (name === '__proto__') return true
		return name === 'prototype' && isObject[depth - 1] === 1 && nameAt(depth - 1) === 'constructor'
	}

	function report(kind: JsonFault['kind'], levels: number) {
		if (faults.length === maxFaults) return
		const path = []
		for (let level = 1; level <= levels; level++)
			path.push(isObject[level] ? nameAt(level) : String(indexes[level]))
		faults.push({ kind, path })
	}

	function parentName() {
		return String(JSON.parse(bytes.toString('utf8', nameStarts[depth], nameEnds[depth])))
	}

	function nameAt(level: number) {
		const name = bytes.subarray(nameStarts[level], nameEnds[level])
		if (name.length > maxNameBytes) return `${name.toString('utf8', 1, maxNameBytes)}…`
		try {
			return String(JSON.parse(name.toString()))
		} catch {
			return name.toString()
		}
	}
}

interface StringEnd {
	/** The position of the closing quote. */
	at: number
	/** NUL or an unpaired surrogate: in UTF-8, JSON can contain these only as escapes. */
	isUnstorable: boolean
}

function endOfString(bytes: Buffer, start: number): StringEnd {
	let isUnstorable = false
	let at = start + 1
	for (; at < bytes.length && bytes[at] !== quote; at++) {
		if (bytes[at] !== backslash) continue
		const unit = escapedUnit(bytes, at)
		at += unit === -1 ? 1 : 5
		if (unit === 0 || isLow(unit)) isUnstorable = true
		else if (isHigh(unit)) {
			if (isLow(escapedUnit(bytes, at + 1))) at += 6
			else isUnstorable = true
		}
	}
	return { at, isUnstorable }
}

const isHigh = (unit: number) => unit >= 0xd800 && unit < 0xdc00
const isLow = (unit: number) => unit >= 0xdc00 && unit < 0xe000

/** The code unit of an escape \uXXXX; -1: it is not one. */
function escapedUnit(bytes: Buffer, at: number) {
	if (bytes[at] !== backslash || bytes[at + 1] !== 0x75) return -1
	let unit = 0
	for (let digit = at + 2; digit < at + 6; digit++) {
		const byte = bytes[digit]! | 0x20
		if (isDigit(bytes[digit]!)) unit = unit * 16 + (bytes[digit]! - 0x30)
		else if (byte >= 0x61 && byte <= 0x66) unit = unit * 16 + (byte - 0x57)
		else return -1
	}
	return unit
}

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39
const isExponent = (byte: number) => (byte | 0x20) === 0x65

function endOfNumber(bytes: Buffer, start: number) {
	let at = start + 1
	for (; at < bytes.length; at++) {
		const byte = bytes[at]!
		// A number consists of digits, an exponent, plus, minus and a dot.
		if (!isDigit(byte) && !isExponent(byte) && byte !== 0x2b && byte !== 0x2e && byte !== minus)
			break
	}
	return at
}

/** Only a long number, or one with a long exponent, may change when it is parsed. */
function numberFault(bytes: Buffer, start: number, end: number) {
	let exponentAt = start
	while (exponentAt < end && !isExponent(bytes[exponentAt]!)) exponentAt++
	if (exponentAt === end ? end - start < 16 : end - exponentAt < 4) return null
	const text = bytes.toString('latin1', start, end)
	const number = Number(text)
	if (number === Infinity || number === -Infinity) return 'too large'
	if (Number.isSafeInteger(number) || !/^-?\d+$/.test(text)) return null
	return BigInt(text) === BigInt(number) ? null : 'rounded'
}

const tooDeep = (maxDepth: number) =>
	new ApiError(400, 'VALIDATION_ERROR', 'The body is nested too deeply', { details: { maxDepth } })

const tooMany = (what: string, details: Record<string, number>) =>
	new ApiError(400, 'VALIDATION_ERROR', `The body has too many ${what}`, {
		details,
		suggestion: 'Send less at a time.',
	})
