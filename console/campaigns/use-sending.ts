import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import type { Writing } from '../editor/writing.ts'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import type { CampaignValues } from './campaign-values.ts'

/** Sends or schedules the version that its writer has seen, and no other. */
export function useSending(
	campaign: Campaign,
	writing: Writing<CampaignValues>,
	onSent: () => void,
) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	return useMutation({
		async mutationFn(at: Date | undefined) {
			const done = await api.campaigns.send(
				campaign.id,
				{ scheduledFor: at?.toISOString() },
				{ unchangedSince: writing.version },
			)
			// A scheduled campaign can be written on, in the version that scheduling has made.
			const { updatedAt } = await api.campaigns.get(campaign.id)
			writing.version = updatedAt
			return done
		},
		async onSuccess({ status }) {
			toast({
				title: status === 'SCHEDULED' ? 'The campaign is scheduled' : 'The campaign is being sent',
			})
			onSent()
			await queries.invalidateQueries({ queryKey: [project.id, 'campaigns'] })
		},
	})
}
