import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import type { Segment } from '../../client/index.ts'
import { useSegmentNames } from '../conditions/condition-fields.ts'
import { sentenceOf } from '../conditions/condition-words.ts'
import { Fault } from '../parts/fault.tsx'
import { Facts, formatCount } from '../parts/figures.tsx'
import { Page, Section, Stack } from '../parts/page.tsx'
import { Time } from '../parts/time.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { AddMembers } from './add-members.tsx'
import { SegmentActs } from './segment-acts.tsx'
import { Freshness, SegmentKind } from './segment-kind.tsx'
import { ToSegments } from './segment-links.tsx'
import { SegmentMembers } from './segment-members.tsx'
import { UsedBy } from './used-by.tsx'
import { useSegment } from './use-segment.ts'

export const page = createLazyRoute('/console/$projectId/segments/$segmentId')({
	component: SegmentPage,
})
const route = getRouteApi('/console/$projectId/segments/$segmentId')

function SegmentPage() {
	const { segmentId } = route.useParams()
	const { data: segment, error, refetch } = useSegment(segmentId)
	if (!segment)
		return (
			<Page title="Segment" back={<ToSegments />}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return (
		<Page
			title={segment.name}
			back={<ToSegments />}
			about={<SegmentKind {...segment} />}
			actions={<SegmentActs segment={segment} />}
		>
			<Stack>
				{segment.description && <p>{segment.description}</p>}
				<SegmentFacts segment={segment} />
			</Stack>
			<Section
				title="Members"
				actions={segment.type === 'STATIC' && <AddMembers segment={segment} />}
			>
				<SegmentMembers key={segment.id} segment={segment} />
			</Section>
		</Page>
	)
}

function SegmentFacts({ segment }: { segment: Segment }) {
	const { condition, memberCount, trackMembership } = segment
	const names = useSegmentNames()
	return (
		<Facts
			facts={[
				...(condition
					? ([['Contacts where', sentenceOf(condition, names)]] as [string, string][])
					: []),
				['Contacts', formatCount(memberCount)],
				['Counted', <Freshness segment={segment} />],
				['Events on entry and exit', trackMembership ? 'Yes' : 'No'],
				['Used by', <UsedBy segmentId={segment.id} />],
				['Changed', <Time at={segment.updatedAt} as="date" />],
			]}
		/>
	)
}
