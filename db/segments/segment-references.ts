import type { PoolClient } from 'pg'
import { type Condition, filtersOf, segmentsIn } from '../conditions/condition.ts'
import { statement } from '../statement.ts'

/** How many filters a condition may come to, with those of the segments it is made of. */
export const maxFiltersInAll = 1000

type Conditions = Map<string, Condition | null>

/** $1 project */
const conditionsOf = statement<{ id: string; condition: Condition | null }>(
	'segment-conditions',
	`select id, condition from segments where project_id = $1`,
)

export type ReferenceFault = { segmentId: string; fault: 'unknown' | 'circle' | 'cost' }

/**
 * What is wrong with the segments that a condition names. With an id it is that segment's own
 * condition-to-be: then whoever is made of that segment must not grow too large by it either.
 */
export async function referenceFault(
	db: PoolClient,
	projectId: string,
	condition: Condition,
	id?: string,
): Promise<ReferenceFault | undefined> {
	const named = segmentsIn(condition)
	if (named.length === 0 && id === undefined) return undefined
	const rows = await conditionsOf(db, [projectId])
	const conditions: Conditions = new Map(rows.map((row) => [row.id, row.condition]))
	const unknown = named.find((segmentId) => !conditions.has(segmentId))
	if (unknown !== undefined) return { segmentId: unknown, fault: 'unknown' }
	const self = id ?? 'this'
	conditions.set(self, condition)

	const costs = new Map<string, number>()
	if (costOf(self, conditions, costs, new Set()) === Number.POSITIVE_INFINITY) {
		const closing = named.find((segmentId) => reaches(segmentId, self, conditions, new Set()))
		return { segmentId: closing ?? self, fault: 'circle' }
	}
	for (const segmentId of id === undefined ? [self] : conditions.keys())
		if (costOf(segmentId, conditions, costs, new Set()) > maxFiltersInAll)
			if (segmentId === self || reaches(segmentId, self, conditions, new Set()))
				return { segmentId, fault: 'cost' }
	return undefined
}

/** Infinite for one that contains itself. */
function costOf(
	id: string,
	conditions: Conditions,
	known: Map<string, number>,
	above: Set<string>,
) {
	if (above.has(id)) return Number.POSITIVE_INFINITY
	const before = known.get(id)
	if (before !== undefined) return before
	const condition = conditions.get(id)
	let cost = 0
	if (condition) {
		cost = [...filtersOf(condition)].length
		above.add(id)
		for (const inner of segmentsIn(condition)) cost += costOf(inner, conditions, known, above)
		above.delete(id)
	}
	known.set(id, cost)
	return cost
}

function reaches(from: string, to: string, conditions: Conditions, seen: Set<string>): boolean {
	if (from === to) return true
	if (seen.has(from)) return false
	seen.add(from)
	const condition = conditions.get(from)
	return !!condition && segmentsIn(condition).some((id) => reaches(id, to, conditions, seen))
}
