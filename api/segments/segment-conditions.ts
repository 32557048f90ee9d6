import type { Pool, PoolClient } from 'pg'
import { mostSegmentsInChain } from '../../db/conditions/condition-sql.ts'
import { type Condition, segmentsIn } from '../../db/conditions/condition.ts'
import { lockReferences } from '../../db/segments/segment-records.ts'
import {
	maxFiltersInAll,
	type ReferenceFault,
	referenceFault,
} from '../../db/segments/segment-references.ts'
import { type FieldError, invalid } from '../errors.ts'

/**
 * Refuses, by its path, a filter on a segment that does not exist, closes a circle, or makes the
 * whole too large or the chain of segments too long. Until the transaction ends, no other request can
 * change references between segments.
 */
export async function checkReferences(
	db: PoolClient,
	projectId: string,
	condition: Condition,
	id?: string,
	path = 'condition',
) {
	if (id === undefined && segmentsIn(condition).length === 0) return
	await lockReferences(db, { projectId })
	await refuseReferences(db, projectId, condition, id, path)
}

/** The same for a condition that is not stored. */
export async function refuseReferences(
	db: Pool | PoolClient,
	projectId: string,
	condition: Condition,
	id?: string,
	path = 'condition',
) {
	const found = await referenceFault(db, projectId, condition, id?.toLowerCase())
	if (!found) return
	const field = pathTo(condition, `segment.${found.segmentId}`, path) ?? path
	throw invalid({ field, ...wording[found.fault] })
}

const wording: Record<ReferenceFault['fault'], Omit<FieldError, 'field'>> = {
	unknown: { message: 'names a segment that does not exist', code: 'custom' },
	circle: { message: 'names a segment that itself depends on this one', code: 'custom' },
	cost: {
		message: `has more than ${maxFiltersInAll} filters, including those of the segments it uses`,
		code: 'too_big',
	},
	depth: {
		message: `begins or continues a chain of more than ${mostSegmentsInChain} segments`,
		code: 'too_big',
	},
}

function pathTo(condition: Condition, field: string, path: string): string | undefined {
	for (const [index, { filters = [], conditions }] of condition.groups.entries()) {
		const group = `${path}.groups.${index}`
		const at = filters.findIndex((filter) => filter.field.toLowerCase() === field)
		if (at >= 0) return `${group}.filters.${at}.field`
		const inside = conditions && pathTo(conditions, field, `${group}.conditions`)
		if (inside) return inside
	}
	return undefined
}
