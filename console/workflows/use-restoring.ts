import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { actOn, useIsActing } from './act-on-workflow.ts'
import type { Draft } from './use-draft.ts'

const route = getRouteApi('/console/$projectId/workflows/$workflowId')

/** Makes an old version the present one, after a question. */
export function useRestoring({ id, enabled }: WorkflowWithSteps, draft: Draft) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const navigate = route.useNavigate()
	const { mutate, error } = useMutation({
		...actOn(id),
		mutationFn: (version: number) => api.workflows.restoreVersion(id, String(version)),
		onSuccess: async (changed) => {
			await queries.invalidateQueries({ queryKey: [project.id, 'workflows'] })
			draft.discard()
			toast({
				title: changed.enabled ? `Restored. New people get version ${changed.version}` : 'Restored',
			})
			await navigate({ search: {} })
		},
	})
	async function restore(version: number) {
		const effect = enabled
			? 'Its steps become a new version, which new people get from now on. People who are in the workflow stay on theirs.'
			: 'Its steps replace the present ones. Nobody new enters until you enable the workflow.'
		const isSure = await confirm({
			title: `Restore version ${version}?`,
			body: draft.isChanged ? `${effect} Your unsaved changes are lost.` : effect,
			act: `Restore version ${version}`,
			isDestructive: draft.isChanged,
		})
		if (isSure) mutate(version)
	}
	return { restore: (version: number) => void restore(version), error, isBusy: useIsActing(id) }
}
