import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Campaign } from '../../client/index.ts'
import type { Writing } from '../editor/writing.ts'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import type { CampaignValues } from './campaign-values.ts'

/** Stores what was written, unless somebody else has changed the campaign meanwhile. */
export function useCampaignSaving(writing: Writing<CampaignValues>, { id }: Campaign) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const { mutate, mutateAsync, isPending, error } = useMutation({
		// One after the other: each is based on the version that the one before it stored.
		scope: { id: `campaign ${id}` },
		async mutationFn({ isOver = false }: { isOver?: boolean; isQuiet?: boolean }) {
			const sent = writing.now()
			const unchangedSince = isOver ? undefined : writing.version
			const saved = await api.campaigns.update(id, sent, { unchangedSince })
			writing.save(sent, saved.updatedAt)
			return saved
		},
		async onSuccess(saved, { isQuiet = false }) {
			if (!isQuiet) toast({ title: 'The campaign is saved' })
			queries.setQueryData([project.id, 'campaigns', 'one', id], saved)
			await queries.invalidateQueries({ queryKey: [project.id, 'campaigns', 'list'] })
		},
	})
	return {
		save() {
			if (!isPending && writing.isChanged) mutate({})
		},
		saveOver: () => mutate({ isOver: true }),
		/** Before it is sent. Rejects if it can't be saved. */
		saveNow: () => mutateAsync({ isQuiet: true }),
		isSaving: isPending,
		error,
	}
}
