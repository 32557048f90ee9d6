import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { TopCampaign } from '../../client/index.ts'
import { Empty } from '../parts/empty.tsx'
import { Filter } from '../parts/filter.tsx'
import { formatCount, formatPercent } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { inquiryOf, metrics, type Period, type PeriodSearch } from './period.ts'

const columns: Column<TopCampaign>[] = [
	{ name: 'Campaign', cell: ({ name }) => name, width: '2fr' },
	{ name: 'Sent', cell: ({ sentCount }) => formatCount(sentCount), width: '80px', isNumber: true },
	{
		name: 'Opened',
		cell: ({ openRate }) => formatPercent(openRate),
		width: '70px',
		isNumber: true,
	},
	{
		name: 'Clicked',
		cell: ({ clickRate }) => formatPercent(clickRate),
		width: '70px',
		isNumber: true,
	},
]

const byDefault = metrics[0].value

/** The best campaigns whose sending began in the period. */
export function TopCampaigns({
	period,
	metric = byDefault,
}: {
	period: Period
	metric: PeriodSearch['by']
}) {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'analytics', 'campaigns', period, metric],
		queryFn: () => api.analytics.topCampaigns({ ...inquiryOf(period), metric, limit: 10 }),
		placeholderData: (previous) => previous,
	})
	return (
		<Section
			title="Top campaigns"
			actions={
				<Filter
					name="Rank"
					all={metrics[0].name}
					value={metric === byDefault ? undefined : metric}
					options={metrics.slice(1)}
					onChange={(value) =>
						void navigate({
							to: '/console/$projectId/analytics',
							params: { projectId: project.id },
							search: (old) => ({
								...old,
								by: metrics.find((one) => one.value === value)?.value,
							}),
							replace: true,
						})
					}
				/>
			}
		>
			<Table
				name="Top campaigns"
				columns={columns}
				rows={data}
				error={error}
				retry={() => void refetch()}
				rowKey={({ id }) => id}
				linkOf={({ id }) => `/console/${project.id}/campaigns/${id}`}
				empty={
					<Empty title="No campaign began in this period">
						<p>Campaigns appear here once they are sent.</p>
					</Empty>
				}
			/>
		</Section>
	)
}
