import { isDayAlone, isoTime } from '../iso-time.ts'
import { comparators, onDay, type Writer } from './condition-writer.ts'
import type { Filter } from './condition.ts'

/**
 * A filter on custom data. Nothing is cast: JSON values are compared as JSON, and the one function that
 * reads times answers null for what is none.
 */
export function dataPredicate(path: string[], filter: Filter, writer: Writer): string {
	const { json, text } = valueAt(path, writer)
	const { operator, value } = filter
	switch (operator) {
		case 'exists':
			return `${json} <> 'null'`
		case 'notExists':
			return `(${json} <> 'null') is not true`
		case 'within':
			return `iso_time(${text}) >= ${writer.ago(filter)}`
		case 'olderThan':
			return `iso_time(${text}) < ${writer.ago(filter)}`
		case 'equals':
			return equals(json, text, value, writer)
		case 'notEquals':
			return present(json, equals(json, text, value, writer))
		case 'contains':
			return contains(json, text, value, writer)
		case 'notContains':
			return present(json, contains(json, text, value, writer))
		default:
			return compares(json, text, comparators[operator]!, value, writer)
	}
}

/** A missing field matches neither a statement nor its opposite. */
const present = (json: string, positive: string) =>
	`(${json} is not null and (${positive}) is not true)`

/** As templates look a name up: dots reach into objects, and where they lead nowhere belong to the key. */
function valueAt(path: string[], writer: Writer) {
	const key = writer.value(path.join('.'), 'text')
	// A plain key is looked up in a third of the time that a path takes.
	if (path.length === 1) return { json: `({c}.data -> ${key})`, text: `({c}.data ->> ${key})` }
	const json = `coalesce({c}.data #> ${writer.value(path, 'text[]')}, {c}.data -> ${key})`
	return { json, text: `(${json} #>> '{}')` }
}

function equals(json: string, text: string, value: unknown, writer: Writer) {
	if (typeof value === 'string' && isDayAlone(value))
		return onDay(`iso_time(${text})`, writer.value(isoTime(value), 'timestamptz'))
	return `${json} = ${writer.value(JSON.stringify(value), 'jsonb')}`
}

/** A part of a string, or a whole element of an array. */
function contains(json: string, text: string, value: unknown, writer: Writer) {
	const wanted = writer.value(value, 'text')
	return `(jsonb_typeof(${json}) = 'string' and strpos(${text}, ${wanted}) > 0
		or jsonb_typeof(${json}) = 'array' and ${json} @> to_jsonb(${wanted}))`
}

/** Numbers with numbers, dates with dates, other strings with strings by their code points. */
function compares(json: string, text: string, by: string, value: unknown, writer: Writer) {
	if (typeof value === 'number')
		return `(jsonb_typeof(${json}) = 'number'
			and ${json} ${by} ${writer.value(JSON.stringify(value), 'jsonb')})`
	const time = isoTime(String(value))
	if (time !== undefined) return `iso_time(${text}) ${by} ${writer.value(time, 'timestamptz')}`
	return `(jsonb_typeof(${json}) = 'string'
		and ${text} collate "C" ${by} ${writer.value(value, 'text')})`
}
