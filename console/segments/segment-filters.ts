import type { Segment } from '../../client/index.ts'
import { textParam } from '../parts/text-param.ts'

export const kinds = [
	{ value: 'DYNAMIC', name: 'By condition' },
	{ value: 'STATIC', name: 'By hand' },
] as const satisfies { value: Segment['type']; name: string }[]

/** The filters of the list, as they stand in its address. */
export interface SegmentFilters {
	search?: string | undefined
	kind?: Segment['type'] | undefined
}

export const readSegmentFilters = (given: Record<string, unknown>): SegmentFilters => ({
	search: textParam(given['search']),
	kind: kinds.find(({ value }) => value === given['kind'])?.value,
})
