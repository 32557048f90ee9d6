import type { PoolClient } from 'pg'
import { type Condition, filtersOf, maxDepth, segmentsIn } from '../conditions/condition.ts'
import { statement } from '../statement.ts'

/** How many filters a condition may come to, with those of the segments it is made of. */
export const maxFiltersInAll = 1000

/** What a condition comes to: how many filters are in it, and the segments that it names itself. */
interface Makeup {
	filters: number
	segments: string[]
}
type Makeups = Map<string, Makeup>

/** Where conditions have their filters: in the groups of a tree, and of those nested in these. */
const filterPaths = Array.from(
	{ length: maxDepth },
	(_, depth) => `$${'.groups[*].conditions'.repeat(depth)}.groups[*].filters[*].field`,
)

/**
 * Of all segments, told by the database: a thousand conditions as long as they may be are more than a
 * process can hold. Each is unpacked once, not for each path. $1 project, $2 paths
 */
const makeupsOf = statement<Makeup & { id: string }>(
	'segment-makeups',
	`select s.id, f.filters, f.segments from segments s
	cross join lateral (select s.condition || '{}' as tree offset 0) c
	cross join lateral (
		select count(*)::int as filters, coalesce(array_agg(lower(substr(field, length('segment.') + 1)))
			filter (where starts_with(field, 'segment.')), '{}') as segments
		from unnest($2::text[]) as path
		cross join lateral jsonb_path_query(c.tree, path::jsonpath) as found(node)
		cross join lateral (select node #>> '{}' as field) as named
	) f
	where s.project_id = $1`,
)

const makeupOf = (condition: Condition): Makeup => ({
	filters: [...filtersOf(condition)].length,
	segments: segmentsIn(condition),
})

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
	const makeup = makeupOf(condition)
	const named = makeup.segments
	if (named.length === 0 && id === undefined) return undefined
	const rows = await makeupsOf(db, [projectId, filterPaths])
	const makeups: Makeups = new Map(rows.map((row) => [row.id, row]))
	const unknown = named.find((segmentId) => !makeups.has(segmentId))
	if (unknown !== undefined) return { segmentId: unknown, fault: 'unknown' }
	const self = id ?? 'this'
	makeups.set(self, makeup)

	const costs = new Map<string, number>()
	if (costOf(self, makeups, costs, new Set()) === Number.POSITIVE_INFINITY) {
		const closing = named.find((segmentId) => reaches(segmentId, self, makeups, new Set()))
		return { segmentId: closing ?? self, fault: 'circle' }
	}
	for (const segmentId of id === undefined ? [self] : makeups.keys())
		if (costOf(segmentId, makeups, costs, new Set()) > maxFiltersInAll)
			if (segmentId === self || reaches(segmentId, self, makeups, new Set()))
				return { segmentId, fault: 'cost' }
	return undefined
}

/** Infinite for one that contains itself. */
function costOf(id: string, makeups: Makeups, known: Map<string, number>, above: Set<string>) {
	if (above.has(id)) return Number.POSITIVE_INFINITY
	const before = known.get(id)
	if (before !== undefined) return before
	const makeup = makeups.get(id)
	let cost = 0
	if (makeup) {
		cost = makeup.filters
		above.add(id)
		for (const inner of makeup.segments) cost += costOf(inner, makeups, known, above)
		above.delete(id)
	}
	known.set(id, cost)
	return cost
}

function reaches(from: string, to: string, makeups: Makeups, seen: Set<string>): boolean {
	if (from === to) return true
	if (seen.has(from)) return false
	seen.add(from)
	return !!makeups.get(from)?.segments.some((id) => reaches(id, to, makeups, seen))
}
