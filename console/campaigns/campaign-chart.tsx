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

const stepMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Sending, opening and clicking, over time. */
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
						data && <Course steps={data} stepMs={stepMs[interval]} />
					)}
				</div>
			</Card>
		</Section>
	)
}

function Course({ steps, stepMs }: { steps: CampaignStep[]; stepMs: number }) {
	const { times, series } = useMemo(() => seriesOf(steps, stepMs), [steps, stepMs])
	return (
		<Suspense>
			<Chart name="The mails of the campaign over time" times={times} series={series} />
		</Suspense>
	)
}

const lines = [
	{ name: 'Sent', of: 'sent', colour: 'text-soft' },
	{ name: 'Delivered', of: 'delivered', colour: 'accent' },
	{ name: 'Opened', of: 'opened', colour: 'info' },
	{ name: 'Clicked', of: 'clicked', colour: 'good' },
	{ name: 'Bounced', of: 'bounced', colour: 'bad' },
	{ name: 'Unsubscribed', of: 'unsubscribed', colour: 'warn' },
] as const

/** Begins with the step before the start, in which there was nothing. Lines without anything are left out. */
function seriesOf(steps: CampaignStep[], stepMs: number) {
	const before = new Date(steps[0]!.at).getTime() - stepMs
	return {
		times: [before, ...steps.map(({ at }) => at)],
		series: lines
			.map(({ name, of, colour }) => ({
				name,
				colour,
				values: [0, ...steps.map((step) => step[of])],
			}))
			.filter(({ name, values }) => name === 'Sent' || values.some((value) => value > 0)),
	}
}
