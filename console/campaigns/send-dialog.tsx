import { useQuery } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import type { Writing } from '../editor/writing.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import type { CampaignValues } from './campaign-values.ts'
import { SendForm } from './send-form.tsx'
import { valuesToCount } from './sending.ts'

interface Props {
	campaign: Campaign
	writing: Writing<CampaignValues>
	/** Stores what is unsaved; rejects if it can't. */
	saveNow: () => Promise<Campaign>
	isOpen: boolean
	onClose: () => void
	/** Shows the campaign as it is stored. */
	onReload: () => void
}

/** The last question before a campaign is sent, which says how many contacts get it. */
export function SendDialog({ campaign, writing, saveNow, isOpen, onClose, onReload }: Props) {
	const { project, api } = useProject()
	// The stored version is sent, so changes are stored before the audience is counted.
	const { data, error, isFetching } = useQuery({
		queryKey: [project.id, 'campaigns', 'before sending', campaign.id],
		async queryFn() {
			const saved = writing.isChanged ? await saveNow() : campaign
			const values = writing.now()
			const { count } = await api.campaigns.countAudience(valuesToCount(values))
			return { count: count ?? saved.totalRecipients, values }
		},
		enabled: isOpen,
		staleTime: 0,
		gcTime: 0,
		// The choices in the form stay, whatever its reader looks up meanwhile.
		refetchOnWindowFocus: false,
		refetchOnReconnect: false,
	})
	return (
		<Dialog title="Send the campaign" isOpen={isOpen} onClose={onClose}>
			{error ? (
				<Fault error={error} />
			) : !data || isFetching ? (
				<Waiting rows={4} />
			) : (
				<SendForm
					campaign={campaign}
					writing={writing}
					{...data}
					onSent={onClose}
					onReload={onReload}
				/>
			)}
		</Dialog>
	)
}
