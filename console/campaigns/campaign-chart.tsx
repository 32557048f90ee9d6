import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import type { Campaign, CampaignStep } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Choice } from '../editor/choice.tsx'
import { Fault } from '../parts/fault.tsx'
import { Card, Section, Soft } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import { bestInterval, isRecent } from './campaign-age.ts'
import styles from './campaign-chart.module.css'

const Chart = lazy(() => import('../parts/chart.tsx'))
const route = getRouteApi('/console/$projectId/campaigns/$campaignId')

const intervals = [
	{ value: 'minute', name: 'Minutes' },
	{ value: 'hour', name: 'Hours' },
	{ value: 'day', name: 'Days' },
] as const

/** What happened when. */
export function CampaignChart({ campaign }: { campaign: Campaign }) {
	const { project, api } = useProject()
	const { interval = bestInterval(campaign) } = route.useSearch()
	const navigate = route.useNavigate()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'campaigns', 'timeseries', campaign.id, interval],
		queryFn: () => api.campaigns.getTimeseries(campaign.id, { interval }),
		refetchInterval: (isRecent(campaign) || campaign.status === 'SENDING') && liveMs.slow,
		placeholderData: (previous) => previous,
	})
	return (
		<Section
			title="Over time"
			actions={
				<Choice
					name="Interval"
					value={interval}
					options={intervals}
					onChange={(value) =>
						void navigate({ search: (old) => ({ ...old, interval: value }), replace: true })
					}
				/>
			}
		>
			<Card>
				<div className={styles.chart}>
					{error ? (
						<Fault error={error} retry={() => void refetch()} />
					) : data?.length === 0 ? (
						<Soft>Nothing has been sent yet.</Soft>
					) : (
						data && <Course steps={data} />
					)}
				</div>
			</Card>
		</Section>
	)
}

function Course({ steps }: { steps: CampaignStep[] }) {
	const { times, series } = useMemo(() => {
		const valuesOf = (name: keyof Omit<CampaignStep, 'at'>) => steps.map((step) => step[name])
		return {
			times: steps.map(({ at }) => at),
			series: [
				{ name: 'Sent', values: valuesOf('sent'), colour: 'text-soft' as const },
				{ name: 'Delivered', values: valuesOf('delivered'), colour: 'info' as const },
				{ name: 'Opened', values: valuesOf('opened'), colour: 'good' as const },
				{ name: 'Clicked', values: valuesOf('clicked'), colour: 'accent' as const },
				{ name: 'Bounced', values: valuesOf('bounced'), colour: 'bad' as const },
				{ name: 'Unsubscribed', values: valuesOf('unsubscribed'), colour: 'warn' as const },
			],
		}
	}, [steps])
	return (
		<Suspense>
			<Chart
				name="Mails sent, delivered, opened, clicked, bounced and unsubscribed over time"
				times={times}
				series={series}
			/>
		</Suspense>
	)
}
