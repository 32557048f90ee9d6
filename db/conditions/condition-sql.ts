import { normalizeEmail } from '../address.ts'
import { isDayAlone, isoTime } from '../iso-time.ts'
import { containing } from '../like.ts'
import { dataPredicate } from './condition-data.ts'
import { ago, comparators, onDay } from './condition-writer.ts'
import {
	type Condition,
	type ConditionGroup,
	type Field,
	fieldOf,
	type Filter,
} from './condition.ts'
import { bool, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { joined, never, ownText, sql, type Sql } from '../sql.ts'

/** What a filter on another segment needs to know about it. */
export const segmentRuleColumns = {
	type: text.of<'DYNAMIC' | 'STATIC'>(),
	/** For a dynamic segment: its members are stored and match its condition. */
	trackMembership: bool,
	condition: json<Condition>().orNull,
}
export type SegmentRule = RowOf<typeof segmentRuleColumns>

export interface Context {
	/** The time that within, olderThan and the like count back from; by default the transaction's. */
	now?: Date
	/** The segments that the condition reaches, by id: see `compileFor`. */
	segments?: ReadonlyMap<string, SegmentRule>
}

/** `referenceFault` refuses longer chains of segments when they are written. */
const maxNesting = 32

/** The most segments in a chain. What names its first one, such as a campaign, adds a level. */
export const mostSegmentsInChain = maxNesting - 1

/**
 * A condition as an SQL predicate, true, false or null, for a row `c` of contacts. None of its casts can
 * fail.
 */
export const compileCondition = (condition: Condition, context: Context): Sql =>
	tree(condition, {
		now: context.now,
		segments: context.segments ?? new Map(),
		nesting: 0,
	})

interface World {
	now: Date | undefined
	segments: ReadonlyMap<string, SegmentRule>
	nesting: number
}

const tree = ({ logic, groups }: Condition, world: World): Sql =>
	inBrackets(
		groups.map((each) => group(each, world)),
		logic === 'OR' ? ' or ' : ' and ',
	)

const group = ({ filters = [], conditions }: ConditionGroup, world: World) =>
	inBrackets(
		[
			...filters.map((each) => filter(each, world)),
			...(conditions ? [tree(conditions, world)] : []),
		],
		' and ',
	)

const inBrackets = (parts: Sql[], by: string) => sql`(${joined(parts, by)})`
const any = (parts: Sql[]) => (parts.length === 1 ? parts[0]! : inBrackets(parts, ' or '))

function filter(filter: Filter, world: World): Sql {
	const field = fieldOf(filter.field)
	if (!field) throw new Error('A condition was compiled without being checked')
	switch (field.family) {
		case 'email':
			return emailPredicate(filter)
		case 'subscribed':
			return equality(filter, (given) => {
				const flag = given === true || given === 'true'
				return sql`c.subscribed = ${bool.value(flag)}`
			})
		case 'date':
			return datePredicate(field.column, filter, world)
		case 'data':
			return dataPredicate(field.path, filter, world.now)
		case 'event':
			return eventPredicate(field, filter, world)
		case 'activity':
			return activityPredicate(field.column, filter, world)
		case 'segment':
			return segmentPredicate(field.id, filter, world)
	}
}

/** For a column that is never null: nothing equals null, everything differs from it. */
function equality({ operator, value }: Filter, equals: (value: unknown) => Sql) {
	const positive = value === null ? never : equals(value)
	return operator === 'equals' ? positive : sql`not (${positive})`
}

function emailPredicate(filter: Filter) {
	const given = String(filter.value)
	if (filter.operator === 'equals' || filter.operator === 'notEquals')
		return equality(filter, () => sql`c.email = ${text.value(normalizeEmail(given))}`)
	const pattern = containing(given.toLowerCase())
	const contains = sql`c.email like ${text.value(pattern)}`
	return filter.operator === 'contains' ? contains : sql`not (${contains})`
}

function datePredicate(column: string, filter: Filter, { now }: World) {
	const { operator, value } = filter
	const stored = ownText(`c.${column}`)
	if (operator === 'within') return sql`${stored} >= ${ago(filter, now)}`
	if (operator === 'olderThan') return sql`${stored} < ${ago(filter, now)}`
	const time = () => timestamp.value(isoTime(String(value))!)
	if (operator === 'equals' || operator === 'notEquals')
		return equality(filter, () =>
			isDayAlone(String(value)) ? onDay(stored, time()) : sql`${stored} = ${time()}`,
		)
	return sql`${stored} ${comparators[operator]!} ${time()}`
}

function eventPredicate({ name }: Field & { family: 'event' }, filter: Filter, world: World) {
	const events = sql`select from events happening
		where happening.contact_id = c.id and happening.name = ${text.value(name)}`
	const stored = { rows: events, at: sql`happening.created_at` }
	return happened(filter, name === 'email.sent' ? [stored, ownEvents] : [stored], world)
}

/** Of mails that are their own event `email.sent`: see db/events/sent-mails.sql. */
const ownEvents = {
	rows: sql`select from emails mail where mail.contact_id = c.id and mail.is_sent_event`,
	at: sql`mail.sent_at`,
}

function activityPredicate(column: string, filter: Filter, world: World) {
	const at = ownText(`mail.${column}`)
	const mails = sql`select from emails mail where mail.contact_id = c.id and ${at} is not null`
	return happened(filter, [{ rows: mails, at }], world)
}

/**
 * Looked up by an index for each contact: `offset 0` keeps the planner from using a join. A table that has
 * just grown by a campaign has no statistics or outdated ones, and a join planned for a hundred rows would
 * read all mails once per contact. An index that starts with the project would do the same. Here the rows
 * are found by the contact, which belongs to the project.
 */
const exists = (rows: Sql) => sql`exists (${rows} offset 0)`

function happened(filter: Filter, sources: { rows: Sql; at: Sql }[], { now }: World): Sql {
	const ever = any(sources.map(({ rows }) => exists(rows)))
	const since = () =>
		any(sources.map(({ rows, at }) => exists(sql`${rows} and ${at} >= ${ago(filter, now)}`)))
	switch (filter.operator) {
		case 'triggered':
			return ever
		case 'notTriggered':
			return sql`not ${ever}`
		case 'triggeredWithin':
			return since()
		case 'notTriggeredWithin':
			return sql`not ${since()}`
		default:
			return sql`(${ever} and not ${since()})`
	}
}

function segmentPredicate(id: string, { operator }: Filter, world: World): Sql {
	const isMember = memberPredicate(id, world)
	return operator === 'memberOfSegment' ? isMember : sql`(${isMember}) is not true`
}

function memberPredicate(id: string, world: World): Sql {
	const segment = world.segments.get(id)
	if (!segment) return never
	if (segment.type === 'STATIC' || segment.trackMembership)
		return exists(sql`select from segment_members member
			where member.contact_id = c.id and member.segment_id = ${uuid.value(id)}`)
	if (world.nesting === maxNesting) throw new Error('Segments refer to each other in a circle')
	return tree(segment.condition!, { ...world, nesting: world.nesting + 1 })
}
