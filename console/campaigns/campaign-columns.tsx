import { useQuery } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { formatCount, formatPercent } from '../parts/figures.tsx'
import { Soft } from '../parts/page.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { segmentsQuery } from '../segments/segments-query.ts'
import { useProject } from '../shell/projects.ts'

export const columns: Column<Campaign>[] = [
	{ name: 'Campaign', cell: (campaign) => <Name {...campaign} />, width: '2.4fr' },
	{ name: 'Status', cell: (campaign) => <StatusOf campaign={campaign} />, width: '110px' },
	{ name: 'Audience', cell: (campaign) => <Audience {...campaign} />, width: '1.5fr' },
	{ name: 'Time', cell: (campaign) => <Time at={timeOf(campaign)} />, width: '150px' },
	{ name: 'Sent', cell: ({ sentCount }) => countOf(sentCount), width: '60px', isNumber: true },
	{ name: 'Opened', cell: (one) => shareOf(one, one.openedCount), width: '64px', isNumber: true },
	{ name: 'Clicked', cell: (one) => shareOf(one, one.clickedCount), width: '64px', isNumber: true },
]

const Name = ({ name, subject }: Campaign) => (
	<span title={`${name}: ${subject}`}>
		{name} <Soft>{subject}</Soft>
	</span>
)

const countOf = (count: number) => (count === 0 ? '–' : formatCount(count))
const shareOf = ({ sentCount }: Campaign, count: number) =>
	sentCount === 0 ? '–' : formatPercent((100 * count) / sentCount)

const timeOf = ({ status, scheduledFor, sentAt, updatedAt }: Campaign) =>
	status === 'SCHEDULED' ? scheduledFor : (sentAt ?? updatedAt)

function Audience({ audienceType, segmentId, totalRecipients }: Campaign) {
	const name = useSegmentName(segmentId)
	const names = { ALL: 'All contacts', SEGMENT: name ?? 'A segment', FILTERED: 'By condition' }
	return (
		<>
			{names[audienceType]} <Soft>{formatCount(totalRecipients)}</Soft>
		</>
	)
}

/** Read once for all rows. */
function useSegmentName(id: string | null) {
	const { data } = useQuery({
		...segmentsQuery(useProject()),
		enabled: id !== null,
		select: (segments) => segments.find((one) => one.id === id)?.name,
	})
	return data
}

function StatusOf({ campaign: { id, status, pausedAt } }: { campaign: Campaign }) {
	if (status === 'SENDING') return pausedAt ? <Status status="PAUSED" /> : <Sending id={id} />
	return <Status status={status} />
}

/** How much of it has been sent, as of now. */
function Sending({ id }: { id: string }) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'campaigns', 'progress', id],
		queryFn: () => api.campaigns.progress(id),
		refetchInterval: liveMs.normal,
	})
	const open = data && data.pending + data.sending
	return (
		<>
			<Status status="SENDING" />{' '}
			{data && data.total > 0 && (
				<Soft>{formatPercent(Math.floor((100 * (data.total - open!)) / data.total))}</Soft>
			)}
		</>
	)
}
