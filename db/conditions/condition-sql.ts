import { normalizeEmail } from '../address.ts'
import { isDayAlone, isoTime } from '../iso-time.ts'
import { containing } from '../like.ts'
import { dataPredicate } from './condition-data.ts'
import { comparators, createWriter, onDay, type Writer } from './condition-writer.ts'
import {
	type Condition,
	type ConditionGroup,
	type Field,
	fieldOf,
	type Filter,
} from './condition.ts'

/** What a filter on another segment must know of it. */
export interface SegmentRule {
	type: 'DYNAMIC' | 'STATIC'
	/** Of a dynamic one: that its members are stored, as its condition finds them. */
	trackMembership: boolean
	condition: Condition | null
}

export interface Context {
	projectId: string
	/** The moment that within, olderThan and their like look back from; else the transaction's. */
	now?: Date
	/** By id, those that the condition reaches: see `compileFor`. */
	segments?: ReadonlyMap<string, SegmentRule>
}

/**
 * A condition as a predicate of SQL: true, or else false or null, for a row of `contacts`. It holds no
 * text of the caller's: values and names are all among the parameters. No cast in it can fail.
 */
export interface CompiledCondition {
	/** With the alias of contacts, and the number of the first of its parameters: 3 makes it $3, $4… */
	sql(alias: string, firstParameter: number): string
	parameters: unknown[]
}

/** A chain of segments longer than this is refused when it is written. */
const maxNesting = 32

export function compileCondition(condition: Condition, context: Context): CompiledCondition {
	const { parameters, render, ...plain } = createWriter(context.now)
	let project: string | undefined
	const writer = {
		...plain,
		project: () => (project ??= plain.value(context.projectId, 'uuid')),
		segments: context.segments ?? new Map<string, SegmentRule>(),
		nesting: 0,
	}
	return { parameters, sql: render(tree(condition, writer)) }
}

type ConditionWriter = Writer & {
	project(): string
	segments: ReadonlyMap<string, SegmentRule>
	nesting: number
}

const tree = ({ logic, groups }: Condition, writer: ConditionWriter): string =>
	joined(
		groups.map((each) => group(each, writer)),
		logic === 'OR' ? ' or ' : ' and ',
	)

const group = ({ filters = [], conditions }: ConditionGroup, writer: ConditionWriter) =>
	joined(
		[
			...filters.map((each) => filter(each, writer)),
			...(conditions ? [tree(conditions, writer)] : []),
		],
		' and ',
	)

const joined = (parts: string[], by: string) => `(${parts.join(by)})`

function filter(filter: Filter, writer: ConditionWriter): string {
	const field = fieldOf(filter.field)
	if (!field) throw new Error('A condition was compiled that had not been checked')
	switch (field.family) {
		case 'email':
			return emailPredicate(filter, writer)
		case 'subscribed':
			return equality(filter, (given) => {
				const flag = given === true || given === 'true'
				return `{c}.subscribed = ${writer.value(flag, 'bool')}`
			})
		case 'date':
			return datePredicate(field.column, filter, writer)
		case 'data':
			return dataPredicate(field.path, filter, writer)
		case 'event':
			return eventPredicate(field, filter, writer)
		case 'activity':
			return activityPredicate(field.column, filter, writer)
		case 'segment':
			return segmentPredicate(field.id, filter, writer)
	}
}

/** For a column that is never null: nothing equals null, everything differs from it. */
function equality({ operator, value }: Filter, equals: (value: unknown) => string) {
	const positive = value === null ? 'false' : equals(value)
	return operator === 'equals' ? positive : `not (${positive})`
}

function emailPredicate(filter: Filter, writer: Writer) {
	const text = String(filter.value)
	if (filter.operator === 'equals' || filter.operator === 'notEquals')
		return equality(filter, () => `{c}.email = ${writer.value(normalizeEmail(text), 'text')}`)
	const pattern = containing(text.toLowerCase())
	const contains = `{c}.email like ${writer.value(pattern, 'text')}`
	return filter.operator === 'contains' ? contains : `not (${contains})`
}

function datePredicate(column: string, filter: Filter, writer: Writer) {
	const { operator, value } = filter
	const stored = `{c}.${column}`
	if (operator === 'within') return `${stored} >= ${writer.ago(filter)}`
	if (operator === 'olderThan') return `${stored} < ${writer.ago(filter)}`
	const time = () => writer.value(isoTime(String(value)), 'timestamptz')
	if (operator === 'equals' || operator === 'notEquals')
		return equality(filter, () =>
			isDayAlone(String(value)) ? onDay(stored, time()) : `${stored} = ${time()}`,
		)
	return `${stored} ${comparators[operator]!} ${time()}`
}

function eventPredicate({ name }: Field & { family: 'event' }, filter: Filter, w: ConditionWriter) {
	const events = `select from events happening where happening.project_id = ${w.project()}
		and happening.contact_id = {c}.id and happening.name = ${w.value(name, 'text')}`
	return happened(filter, events, 'happening.created_at', w)
}

function activityPredicate(column: string, filter: Filter, writer: ConditionWriter) {
	const mails = `select from emails mail where mail.project_id = ${writer.project()}
		and mail.contact_id = {c}.id and mail.${column} is not null`
	return happened(filter, mails, `mail.${column}`, writer)
}

/**
 * Looked up for each contact by an index: `offset 0` leaves the planner no join. A table that has just
 * grown by a campaign has no statistics, and a join that is planned for a hundred rows reads all mails
 * once for every contact.
 */
const exists = (rows: string) => `exists (${rows} offset 0)`

function happened(filter: Filter, rows: string, column: string, writer: Writer): string {
	const ever = exists(rows)
	const since = () => exists(`${rows} and ${column} >= ${writer.ago(filter)}`)
	switch (filter.operator) {
		case 'triggered':
			return ever
		case 'notTriggered':
			return `not ${ever}`
		case 'triggeredWithin':
			return since()
		case 'notTriggeredWithin':
			return `not ${since()}`
		default:
			return `(${ever} and not ${since()})`
	}
}

function segmentPredicate(id: string, { operator }: Filter, writer: ConditionWriter): string {
	const isMember = memberPredicate(id, writer)
	return operator === 'memberOfSegment' ? isMember : `(${isMember}) is not true`
}

function memberPredicate(id: string, writer: ConditionWriter): string {
	const segment = writer.segments.get(id)
	if (!segment) return 'false'
	if (segment.type === 'STATIC' || segment.trackMembership)
		return exists(`select from segment_members member
			where member.project_id = ${writer.project()}
				and member.segment_id = ${writer.value(id, 'uuid')} and member.contact_id = {c}.id`)
	if (writer.nesting === maxNesting) throw new Error('Segments refer to each other in a circle')
	return tree(segment.condition!, { ...writer, nesting: writer.nesting + 1 })
}
