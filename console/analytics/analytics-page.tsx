import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import type { AnalyticsDay } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Card, Columns, Page, Section, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { DaysTable } from './days-table.tsx'
import { before, inquiryOf, isCurrent, periodOf, problemOf } from './period.ts'
import { PeriodChoice } from './period-choice.tsx'
import { TopCampaigns } from './top-campaigns.tsx'
import { TopEvents } from './top-events.tsx'
import { sumsOf, Totals } from './totals.tsx'

export const page = createLazyRoute('/console/$projectId/analytics')({ component: AnalyticsPage })
const route = getRouteApi('/console/$projectId/analytics')

const Chart = lazy(() => import('../parts/chart.tsx'))

function AnalyticsPage() {
	const { project, api } = useProject()
	const search = route.useSearch()
	const period = periodOf(search)
	const problem = problemOf(period)
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'analytics', 'days', period],
		queryFn: async () => {
			const [days, earlier] = await Promise.all([
				api.analytics.timeseries(inquiryOf(period)),
				api.analytics.timeseries(inquiryOf(before(period))),
			])
			return { days, earlier }
		},
		enabled: problem === undefined,
		placeholderData: (previous) => previous,
		refetchInterval: isCurrent(period) ? liveMs.slow : false,
	})
	return (
		<Page title="Analytics">
			<Stack>
				<PeriodChoice search={search} />
				{problem && <p role="alert">{problem}</p>}
				{error && <Fault error={error} retry={() => void refetch()} />}
				{data && !problem ? <Course {...data} /> : !problem && !error && <Waiting rows={18} />}
			</Stack>
			{!problem && (
				<Columns>
					<TopCampaigns period={period} metric={search.by} />
					<TopEvents period={period} />
				</Columns>
			)}
		</Page>
	)
}

/** The figures of a period, together and by days. */
function Course({ days, earlier }: { days: AnalyticsDay[]; earlier: AnalyticsDay[] }) {
	const times = useMemo(() => days.map(({ date }) => new Date(`${date}T00:00:00`)), [days])
	const series = useMemo(() => seriesOf(days), [days])
	const hasNone = Object.values(sumsOf(days)).every((count) => count === 0)
	return (
		<>
			<Totals days={days} earlier={earlier} />
			{hasNone ? (
				<Empty title="No mail in this period">
					<p>Choose a longer period, or send a mail: its figures appear here within seconds.</p>
				</Empty>
			) : (
				<Suspense fallback={<Waiting rows={14} />}>
					<Section title="Mails by day">
						<Card>
							<Chart name="Mails by day" times={times} series={series.mails} isByDay />
						</Card>
					</Section>
					<Section title="Problems by day">
						<Card>
							<Chart
								name="Problems by day"
								times={times}
								series={series.problems}
								isByDay
								height={140}
							/>
						</Card>
					</Section>
					<DaysTable days={days} />
				</Suspense>
			)}
		</>
	)
}

const seriesOf = (days: AnalyticsDay[]) => ({
	mails: [
		{ name: 'Sent', values: days.map(({ emails }) => emails), colour: 'text-soft' as const },
		{ name: 'Delivered', values: days.map(({ delivered }) => delivered), colour: 'good' as const },
		{ name: 'Opened', values: days.map(({ opens }) => opens), colour: 'info' as const },
		{ name: 'Clicked', values: days.map(({ clicks }) => clicks), colour: 'warn' as const },
	],
	problems: [
		{ name: 'Bounced', values: days.map(({ bounces }) => bounces), colour: 'warn' as const },
		{
			name: 'Spam reports',
			values: days.map(({ complaints }) => complaints),
			colour: 'bad' as const,
		},
	],
})
