import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import type { Campaign } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { CampaignCourse } from './campaign-course.tsx'
import { CampaignsLink } from './campaigns-link.tsx'
import { CampaignWriting } from './campaign-writing.tsx'

export const page = createLazyRoute('/console/$projectId/campaigns/$campaignId')({
	component: CampaignPage,
})
const route = getRouteApi('/console/$projectId/campaigns/$campaignId')

/** Before its start, a campaign is written; after that, its course is shown. */
function CampaignPage() {
	const { campaignId } = route.useParams()
	const { project, api } = useProject()
	const [round, setRound] = useState(0)
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'campaigns', 'one', campaignId],
		queryFn: () => api.campaigns.get(campaignId),
		refetchInterval: ({ state }) => intervalFor(state.data),
		gcTime: 0,
	})
	if (!data)
		return (
			<Page title="Campaign" back={<CampaignsLink />}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return data.status === 'DRAFT' || data.status === 'SCHEDULED' ? (
		<CampaignWriting
			key={`${data.id} ${round}`}
			campaign={data}
			onReload={() => void refetch().then(() => setRound(round + 1))}
		/>
	) : (
		<CampaignCourse key={data.id} campaign={data} />
	)
}

function intervalFor(campaign: Campaign | undefined) {
	// Somebody else may send a draft.
	if (campaign?.status === 'SENDING' || campaign?.status === 'DRAFT') return liveMs.normal
	if (campaign?.status !== 'SCHEDULED') return false
	const isSoon = new Date(campaign.scheduledFor!).getTime() - Date.now() < 60_000
	return isSoon ? liveMs.fast : liveMs.slow
}
