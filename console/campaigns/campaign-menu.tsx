import { EllipsisVertical } from 'lucide-react'
import type { Campaign } from '../../client/index.ts'
import { IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Menu } from '../parts/menu.tsx'
import { useCampaignActs } from './use-campaign-acts.ts'

/** Acts that are seldom needed. */
export function CampaignMenu({ campaign }: { campaign: Campaign }) {
	const { duplicate, remove, cancel, error, reset } = useCampaignActs(campaign)
	const isOpen = campaign.status === 'SCHEDULED' || campaign.status === 'SENDING'
	return (
		<>
			<Menu
				trigger={
					<IconButton name={`Acts for ${campaign.name}`} icon={<EllipsisVertical size={16} />} />
				}
				items={[
					{ name: 'Duplicate', act: duplicate },
					isOpen
						? { name: 'Cancel the campaign', act: cancel, isDestructive: true }
						: { name: 'Delete', act: remove, isDestructive: true },
				]}
			/>
			<Dialog title="That did not work" isOpen={Boolean(error)} onClose={reset}>
				<Fault error={error} />
			</Dialog>
		</>
	)
}
