import type { Segment } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Soft } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { kinds } from './segment-filters.ts'

export const SegmentKind = ({ type }: Pick<Segment, 'type'>) => (
	<Badge tone={type === 'DYNAMIC' ? 'info' : 'none'}>
		{kinds.find(({ value }) => value === type)?.name}
	</Badge>
)

/** When the members were counted last. */
export function Freshness({ segment }: { segment: Segment }) {
	const { type, trackMembership, computedAt } = segment
	if (type === 'STATIC') return 'Always'
	if (!trackMembership) return <Soft>At its last change or count, not by itself</Soft>
	if (!computedAt) return 'Being computed'
	return <Time at={computedAt} />
}
