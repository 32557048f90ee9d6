import { ago } from '../conditions/condition-writer.ts'
import {
	type Condition,
	fieldOf,
	type Filter,
	filtersOf,
	timedOperators,
} from '../conditions/condition.ts'
import { text, timestamp, type Value } from '../sql-types.ts'
import { joined, sql, type Sql } from '../sql.ts'

/**
 * The contacts whose match may have changed since `since`: those that were written, those with an activity
 * that the condition uses, and those for whom a time span has passed. Null if no index can tell: for
 * activities on mails, other segments, and dates in custom data.
 */
export function changedContacts(condition: Condition, project: Value, since: Date) {
	const then = timestamp.value(since)
	const sources = [
		sql`select id from contacts where project_id = ${project} and updated_at >= ${then}`,
	]
	for (const filter of filtersOf(condition)) {
		const found = sourcesOf(filter, project, then)
		if (!found) return null
		sources.push(...found)
	}
	return joined(sources, ' union all ')
}

function sourcesOf(filter: Filter, project: Value, then: Value): Sql[] | null {
	const field = fieldOf(filter.field)!
	const { operator } = filter
	switch (field.family) {
		case 'email':
		case 'subscribed':
			return []
		case 'date':
		case 'data':
			return timedOperators.includes(operator) ? null : []
		case 'event': {
			const spans = [{ from: sql`${then}`, until: sql`'infinity'` }]
			if (timedOperators.includes(operator)) {
				const limit = ago(filter)
				// The moments that were within the time span then, and are no longer.
				spans.push({ from: sql`${then} - (now() - (${limit}))`, until: limit })
			}
			return spans.flatMap((span) => happenedIn(span, field.name, project))
		}
		case 'activity':
		case 'segment':
			return null
	}
}

function happenedIn({ from, until }: { from: Sql; until: Sql }, name: string, project: Value) {
	const stored = sql`select contact_id from events where project_id = ${project}
		and name = ${text.value(name)} and created_at between ${from} and ${until}`
	const own = sql`select contact_id from sent_mails(${project}, ${from}, ${until})`
	return name === 'email.sent' ? [stored, own] : [stored]
}
