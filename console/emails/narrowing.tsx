import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { Button } from '../parts/button.tsx'
import { useProject } from '../shell/projects.ts'
import type { EmailFilters } from './email-filters.ts'

interface Props {
	filters: EmailFilters
	set: (changed: EmailFilters) => void
}

/** The contact and the campaign whose mails are shown, by their names; a click shows all again. */
export function Narrowing({ filters: { contact, campaign }, set }: Props) {
	const address = useAddress(contact)
	const name = useCampaignName(campaign)
	return (
		<>
			{contact && <Without name={address} remove={() => set({ contact: undefined })} />}
			{campaign && <Without name={name} remove={() => set({ campaign: undefined })} />}
		</>
	)
}

const Without = ({ name, remove }: { name: string; remove: () => void }) => (
	<Button onClick={remove} title="Show the mails of all">
		{name} <X size={14} aria-label="Remove this filter" />
	</Button>
)

function useAddress(id: string | undefined) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'contacts', id],
		queryFn: () => api.contacts.get(id!),
		enabled: id !== undefined,
	})
	return data?.email ?? 'One contact'
}

function useCampaignName(id: string | undefined) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'campaigns', 'name', id],
		queryFn: () => api.campaigns.get(id!),
		enabled: id !== undefined,
	})
	return data ? `Campaign “${data.name}”` : 'One campaign'
}
