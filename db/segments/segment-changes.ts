import { createWriter } from '../conditions/condition-writer.ts'
import {
	type Condition,
	fieldOf,
	type Filter,
	filtersOf,
	timedOperators,
} from '../conditions/condition.ts'

/**
 * The contacts for whom a condition may come out otherwise than at `since`: those that were written,
 * those that did something it asks about, and those for whom something has meanwhile become too long
 * ago. Null where that cannot be told by an index: by mails, by other segments, by dates in custom data.
 *
 * $1 is the project; its own parameters begin at the number given.
 */
export function changedContacts(condition: Condition, firstParameter: number, since: Date) {
	const writer = createWriter()
	const then = writer.value(since.toISOString(), 'timestamptz')
	const sources = new Set([
		`select id from contacts where project_id = $1 and updated_at >= ${then}`,
	])
	for (const filter of filtersOf(condition)) {
		const found = sourcesOf(filter, then, writer)
		if (!found) return null
		for (const source of found) sources.add(source)
	}
	const sql = writer.render([...sources].join(' union all '))('', firstParameter)
	return { sql, parameters: writer.parameters }
}

function sourcesOf(
	filter: Filter,
	then: string,
	writer: ReturnType<typeof createWriter>,
): string[] | null {
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
			const named = `select contact_id from events where project_id = $1
				and name = ${writer.value(field.name, 'text')} and created_at`
			if (!timedOperators.includes(operator)) return [`${named} >= ${then}`]
			const ago = writer.ago(filter)
			// What lay within the amount of time then, and does no longer.
			return [`${named} >= ${then}`, `${named} between ${then} - (now() - (${ago})) and ${ago}`]
		}
		case 'activity':
		case 'segment':
			return null
	}
}
