import { useQuery } from '@tanstack/react-query'
import type { TopEvent } from '../../client/index.ts'
import { Empty } from '../parts/empty.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { inquiryOf, type Period } from './period.ts'

const trend = new Intl.NumberFormat(undefined, { style: 'percent', signDisplay: 'exceptZero' })

const columns: Column<TopEvent>[] = [
	{ name: 'Event', cell: ({ name }) => name, width: '2fr' },
	{ name: 'Times', cell: ({ count }) => formatCount(count), width: '100px', isNumber: true },
	{
		name: 'Change',
		cell: (event) => trend.format(event.trend / 100),
		width: '90px',
		isNumber: true,
	},
]

/** The events that the application tracks, most frequent first. */
export function TopEvents({ period }: { period: Period }) {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'analytics', 'events', period],
		queryFn: () => api.analytics.topEvents({ ...inquiryOf(period), limit: 10 }),
		placeholderData: (previous) => previous,
	})
	return (
		<Section title="Top events">
			<Table
				name="Top events"
				columns={columns}
				rows={data}
				error={error}
				retry={() => void refetch()}
				rowKey={({ name }) => name}
				empty={
					<Empty title="No event in this period">
						<p>
							Your application tracks events of its users with <code>POST /v1/track</code>. They
							start workflows, and segments can ask for them.
						</p>
					</Empty>
				}
			/>
		</Section>
	)
}
