import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Workflow } from '../../client/index.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { formatCount } from '../parts/figures.tsx'
import { deletionOf } from '../parts/deletion.ts'
import { useToast } from '../parts/toast.tsx'
import { copyQuestion, discardUnsaved, hasUnsaved } from '../parts/use-leaving.ts'
import { useProject } from '../shell/projects.ts'
import { actOn, type Perform } from './act-on-workflow.ts'
import { graphFault } from './graph-fault.ts'

interface Deletion {
	workflow: Workflow
	after: (() => Promise<unknown>) | undefined
}

/** Acts on a workflow as a whole, for the list and for the page of one. */
export function useWorkflowActs(workflowId?: string) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, error, isPending, reset } = useMutation({
		...actOn(workflowId),
		mutationFn: (act: () => Promise<unknown>) => act(),
		onSettled: () => queries.invalidateQueries({ queryKey: [project.id, 'workflows'] }),
	})

	const deletion = useMutation({
		mutationKey: deletionOf(workflowId),
		async mutationFn({ workflow: { id, name, enabled }, after }: Deletion) {
			// Nobody may enter between the last cancellation and the deletion.
			if (enabled) await api.workflows.update(id, { enabled: false })
			await api.executions.cancelAll(id)
			await api.workflows.delete(id)
			discardUnsaved()
			toast({ title: `“${name}” is deleted` })
			await after?.()
			queries.removeQueries({ queryKey: [project.id, 'workflows', id] })
		},
	})

	async function setEnabled(
		{ id, name, enabled }: Workflow,
		active: number,
		perform: Perform = (act) => act(),
	) {
		const people = active === 1 ? '1 person goes' : `${formatCount(active)} people go`
		const isSure =
			!enabled ||
			(await confirm({
				title: `Disable “${name}”?`,
				body: `Nobody new enters. ${active === 0 ? 'Nobody is in it now.' : `${people} on to the end.`}`,
				act: 'Disable',
			}))
		if (!isSure) return
		mutate(() =>
			perform(async () => {
				const { version } = await api.workflows.update(id, { enabled: !enabled })
				toast({
					title: enabled
						? 'Disabled. Nobody new enters'
						: `Enabled. New people get version ${version}`,
				})
			}),
		)
	}

	async function remove(workflow: Workflow, after?: () => Promise<unknown>) {
		const { id, name } = workflow
		const active = await countActive(id)
		const ends =
			active === 0
				? 'Nobody is in it now.'
				: `${active === 1 ? '1 execution ends' : `${formatCount(active)} executions end`} at once.`
		const isSure = await confirm({
			title: `Delete “${name}”?`,
			body: `${ends} Its steps, versions and past executions are deleted. This cannot be undone.`,
			act: active === 0 ? 'Delete' : `End ${formatCount(active)} and delete`,
			isDestructive: true,
		})
		if (isSure) await deletion.mutateAsync({ workflow, after })
	}

	async function countActive(id: string) {
		const versions = await api.workflows.listVersions(id)
		return versions.reduce((sum, { activeExecutions }) => sum + activeExecutions, 0)
	}

	return {
		error: graphFault(error, 'Not enabled: some steps are not complete. The editor marks them.'),
		isBusy: isPending,
		/** Takes back what was said about the last act. */
		forget: reset,
		setEnabled: (workflow: Workflow, active: number, perform?: Perform) =>
			void setEnabled(workflow, active, perform),
		remove: (workflow: Workflow, after?: () => Promise<unknown>) =>
			mutate(() => remove(workflow, after)),
		duplicate: (workflow: Workflow, after?: (id: string) => Promise<unknown>) =>
			mutate(async () => {
				if (hasUnsaved() && !(await confirm(copyQuestion))) return
				const copy = await api.workflows.duplicate(workflow.id)
				discardUnsaved()
				toast({ title: `“${copy.name}” is made. It is disabled` })
				await after?.(copy.id)
			}),
	}
}
