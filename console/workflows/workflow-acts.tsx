import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { EllipsisVertical } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { Button, IconButton } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Menu } from '../parts/menu.tsx'
import { useProject } from '../shell/projects.ts'
import { type Perform, useIsActing } from './act-on-workflow.ts'
import { RenameForm } from './rename-form.tsx'
import type { Draft } from './use-draft.ts'
import { useWorkflowActs } from './use-workflow-acts.ts'

/** What can be done with a workflow as a whole. */
export function WorkflowActs({ workflow, draft }: { workflow: WorkflowWithSteps; draft: Draft }) {
	const { isChanged } = draft
	const { project } = useProject()
	const navigate = useNavigate()
	const [isRenaming, setRenaming] = useState(false)
	const { setEnabled, duplicate, remove, error, forget } = useWorkflowActs(workflow.id)
	// What was refused may be right once something has changed.
	useEffect(forget, [forget, isChanged, workflow.updatedAt])
	const rebasing = useRebasing(workflow, draft)
	const params = { projectId: project.id }
	const active = workflow.steps.reduce((sum, { activeExecutions }) => sum + activeExecutions, 0)
	return (
		<>
			<Fault error={error} />
			<Button
				kind={workflow.enabled ? 'plain' : 'primary'}
				isBusy={useIsActing(workflow.id)}
				disabled={isChanged && !workflow.enabled}
				title={isChanged && !workflow.enabled ? 'Save your changes first' : undefined}
				onClick={() => setEnabled(workflow, active, rebasing)}
			>
				{workflow.enabled ? 'Disable' : 'Enable'}
			</Button>
			<Menu
				trigger={<IconButton name="More" icon={<EllipsisVertical size={16} />} />}
				items={[
					{ name: 'Rename', act: () => setRenaming(true) },
					{
						name: 'Duplicate',
						act: () =>
							duplicate(workflow, (workflowId) =>
								navigate({
									to: '/console/$projectId/workflows/$workflowId',
									params: { ...params, workflowId },
								}),
							),
					},
					null,
					{
						name: 'Delete',
						isDestructive: true,
						act: () =>
							remove(workflow, () => navigate({ to: '/console/$projectId/workflows', params })),
					},
				]}
			/>
			<Dialog title="Name and note" isOpen={isRenaming} onClose={() => setRenaming(false)}>
				<RenameForm workflow={workflow} perform={rebasing} onDone={() => setRenaming(false)} />
			</Dialog>
		</>
	)
}

/** For acts of the writer: bases unsaved changes on the version that the act has made. */
function useRebasing({ id }: WorkflowWithSteps, draft: Draft): Perform {
	const { project } = useProject()
	const queries = useQueryClient()
	const queryKey = [project.id, 'workflows', id]
	const loaded = () => queries.getQueryData<WorkflowWithSteps>(queryKey)
	return async (act) => {
		const before = loaded()
		await act()
		await queries.invalidateQueries({ queryKey, exact: true })
		const after = loaded()
		if (before && after) draft.rebase(before, after)
	}
}
