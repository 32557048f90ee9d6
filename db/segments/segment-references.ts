import type { Pool, PoolClient } from 'pg'
import { type Condition, filtersOf, maxDepth, segmentsIn } from '../conditions/condition.ts'
import { mostSegmentsInChain } from '../conditions/condition-sql.ts'
import { int, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The most filters of a condition, including those of the segments it refers to. */
export const maxFiltersInAll = 1000

/** The size of a condition: its number of filters, and the segments it names directly. */
type Makeup = Omit<RowOf<typeof makeupsOf>, 'id'>
type Makeups = Map<string, Makeup>

/** The places of filters in a condition: in the groups of the tree, and in nested groups. */
const filterPaths = Array.from(
	{ length: maxDepth },
	(_, depth) => `$${'.groups[*].conditions'.repeat(depth)}.groups[*].filters[*].field`,
)

/**
 * For all segments, computed in the database: a thousand conditions of the maximum size exceed a process's
 * memory. Each is decompressed once, not once per path.
 */
const makeupsOf = statement('segment-makeups', {
	params: { projectId: uuid, paths: text.array },
	row: { id: uuid, filters: int, segments: text.array },
	text: `select s.id, f.filters, f.segments from segments s
	cross join lateral (select s.condition || '{}' as tree offset 0) c
	cross join lateral (
		select count(*)::int as filters, coalesce(array_agg(lower(substr(field, length('segment.') + 1)))
			filter (where starts_with(field, 'segment.')), '{}') as segments
		from unnest($paths::text[]) as path
		cross join lateral jsonb_path_query(c.tree, path::jsonpath) as found(node)
		cross join lateral (select node #>> '{}' as field) as named
	) f
	where s.project_id = $projectId`,
})

const makeupOf = (condition: Condition): Makeup => ({
	filters: [...filtersOf(condition)].length,
	segments: segmentsIn(condition),
})

export type ReferenceFault = { segmentId: string; fault: 'unknown' | 'circle' | 'cost' | 'depth' }

/**
 * The fault in the segments that a condition names, if any. With an id, the condition is the new one of
 * that segment, so all segments that refer to it must stay within the limit too.
 */
export async function referenceFault(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
	id?: string,
): Promise<ReferenceFault | undefined> {
	const makeup = makeupOf(condition)
	const named = makeup.segments
	if (named.length === 0 && id === undefined) return undefined
	const rows = await makeupsOf(db, { projectId, paths: filterPaths })
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
	const depths = new Map<string, number>()
	for (const segmentId of id === undefined ? [self] : makeups.keys()) {
		const isCostly = costOf(segmentId, makeups, costs, new Set()) > maxFiltersInAll
		const isDeep = depthOf(segmentId, makeups, depths) > mostSegmentsInChain
		if ((isCostly || isDeep) && reaches(segmentId, self, makeups, new Set()))
			return { segmentId, fault: isCostly ? 'cost' : 'depth' }
	}
	return undefined
}

/** Infinite for a segment that contains itself. */
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

/** The number of segments in the longest chain that begins here. There are no circles. */
function depthOf(id: string, makeups: Makeups, known: Map<string, number>): number {
	const before = known.get(id)
	if (before !== undefined) return before
	const inner = makeups.get(id)?.segments ?? []
	const depth = 1 + Math.max(0, ...inner.map((one) => depthOf(one, makeups, known)))
	known.set(id, depth)
	return depth
}

function reaches(from: string, to: string, makeups: Makeups, seen: Set<string>): boolean {
	if (from === to) return true
	if (seen.has(from)) return false
	seen.add(from)
	return !!makeups.get(from)?.segments.some((id) => reaches(id, to, makeups, seen))
}
