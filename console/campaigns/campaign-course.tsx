import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { Campaign } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Page, Stack } from '../parts/page.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { useProject } from '../shell/projects.ts'
import { tabs } from './campaign-filters.ts'
import { CampaignFigures } from './campaign-figures.tsx'
import { CampaignMail } from './campaign-mail.tsx'
import { CampaignMenu } from './campaign-menu.tsx'
import { CampaignProgressBar } from './campaign-progress.tsx'
import { CampaignRecipients } from './campaign-recipients.tsx'
import { CampaignsLink } from './campaigns-link.tsx'
import { DoubtNotice } from './doubt-notice.tsx'
import { UnsentChanges } from './unsent-changes.tsx'
import { useCampaignActs } from './use-campaign-acts.ts'

const route = getRouteApi('/console/$projectId/campaigns/$campaignId')

/** A campaign that has started: how far it is, and what its readers did. */
export function CampaignCourse({ campaign }: { campaign: Campaign }) {
	const { data: progress, error, refetch } = useProgress(campaign)
	const isPaused = campaign.status === 'SENDING' && (progress?.paused ?? campaign.pausedAt !== null)
	return (
		<Page
			title={campaign.name}
			back={<CampaignsLink />}
			about={<Status status={isPaused ? 'PAUSED' : campaign.status} />}
			actions={
				<Acts
					campaign={campaign}
					isPaused={isPaused}
					isLimited={progress?.waitingFor?.reason === 'billing'}
				/>
			}
		>
			<Stack>
				<UnsentChanges campaign={campaign} />
				<Fault error={error} retry={() => void refetch()} />
				<CampaignProgressBar campaign={campaign} progress={progress} />
				{progress && progress.uncertain > 0 && (
					<DoubtNotice campaign={campaign} count={progress.uncertain} />
				)}
				{/* The height of what is above depends on the progress. */}
				{(progress || error) && <Parts campaign={campaign} />}
			</Stack>
		</Page>
	)
}

function Parts({ campaign }: { campaign: Campaign }) {
	const { tab } = route.useSearch()
	const navigate = route.useNavigate()
	return (
		<Tabs
			value={tab ?? 'figures'}
			onChange={(id) =>
				void navigate({ search: { tab: tabs.find((one) => one === id) }, replace: true })
			}
			tabs={[
				{ id: 'figures', name: 'Figures', content: <CampaignFigures campaign={campaign} /> },
				{
					id: 'recipients',
					name: 'Recipients',
					content: <CampaignRecipients campaign={campaign} />,
				},
				{ id: 'mail', name: 'Mail', content: <CampaignMail campaign={campaign} /> },
			]}
		/>
	)
}

function useProgress({ id, status }: Campaign) {
	const { project, api } = useProject()
	return useQuery({
		queryKey: [project.id, 'campaigns', 'progress', id],
		queryFn: () => api.campaigns.progress(id),
		refetchInterval: ({ state }) => {
			if (status === 'SENDING') return liveMs.fast
			const { sending = 0, uncertain = 0 } = state.data ?? {}
			return sending + uncertain > 0 && liveMs.normal
		},
	})
}

/** `isLimited`: resumed by hand, it would be paused again at once. */
function Acts({
	campaign,
	isPaused,
	isLimited,
}: {
	campaign: Campaign
	isPaused: boolean
	isLimited: boolean
}) {
	const { pause, resume, cancel, error, isPending } = useCampaignActs(campaign)
	return (
		<>
			<Fault error={error} />
			{campaign.status === 'SENDING' && (
				<>
					{isPaused && !isLimited && (
						<Button kind="primary" onClick={resume} isBusy={isPending}>
							Resume
						</Button>
					)}
					{!isPaused && (
						<Button onClick={pause} isBusy={isPending}>
							Pause
						</Button>
					)}
					<Button kind="danger" onClick={cancel} isBusy={isPending}>
						Cancel the campaign
					</Button>
				</>
			)}
			<CampaignMenu campaign={campaign} />
		</>
	)
}
