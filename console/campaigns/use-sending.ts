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
			const scheduledFor = at?.toISOString()
			const read = () => api.campaigns.get(campaign.id).catch(() => undefined)
			try {
				await api.campaigns.send(campaign.id, { scheduledFor }, { unchangedSince: writing.version })
			} catch (error) {
				// Only the answer may have been lost.
				const now = await read()
				if (!now || !isUnderWay(now, scheduledFor)) throw error
				return now
			}
			const now = await read()
			// A scheduled campaign can be written on, in the version that scheduling has made.
			if (now) writing.version = now.updatedAt
			return now ?? { status: at ? 'SCHEDULED' : 'SENDING' }
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

const isUnderWay = ({ status, scheduledFor }: Campaign, wanted: string | undefined) =>
	status === 'SENDING' ||
	status === 'SENT' ||
	(status === 'SCHEDULED' && wanted !== undefined && scheduledFor === wanted)
