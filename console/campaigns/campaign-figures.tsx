import { useQuery } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Fault } from '../parts/fault.tsx'
import { Figures, formatPercent } from '../parts/figures.tsx'
import { Section } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { CampaignChart } from './campaign-chart.tsx'
import { isRecent } from './campaign-age.ts'
import { Funnel } from './funnel.tsx'

/** How the mails of a campaign fared. */
export function CampaignFigures({ campaign }: { campaign: Campaign }) {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'campaigns', 'stats', campaign.id],
		queryFn: () => api.campaigns.stats(campaign.id),
		refetchInterval:
			campaign.status === 'SENDING' ? liveMs.normal : isRecent(campaign) && liveMs.slow,
	})
	if (!data) return error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />
	return (
		<>
			<Funnel stats={data} />
			<Section title="Problems">
				<Figures
					figures={[
						{
							name: 'Bounced',
							value: data.bouncedCount,
							about: formatPercent(data.bounceRate),
							...(data.bouncedCount > 0 && { tone: 'bad' }),
						},
						{
							name: 'Spam reports',
							value: data.complainedCount,
							...(data.complainedCount > 0 && { tone: 'bad' }),
						},
						{ name: 'Unsubscribed', value: data.unsubscribedCount },
						{
							name: 'Failed',
							value: data.failedCount,
							...(data.failedCount > 0 && { tone: 'bad' }),
						},
					]}
				/>
			</Section>
			<CampaignChart campaign={campaign} />
		</>
	)
}
