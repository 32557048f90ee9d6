import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ImportJob } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { Fault } from '../parts/fault.tsx'
import { useProject } from '../shell/projects.ts'

export function UndoImport({ job }: { job: ImportJob }) {
	const { project, api } = useProject()
	const confirm = useConfirm()
	const navigate = useNavigate()
	const queries = useQueryClient()
	const { mutate, error, isPending } = useMutation({
		mutationFn: () => api.contacts.undoImport(job.id),
		// Somebody else may have undone it.
		onSettled: () => queries.invalidateQueries({ queryKey: [project.id, 'jobs', job.id] }),
		onSuccess: ({ jobId }) =>
			navigate({
				to: '/console/$projectId/contacts/import',
				params: { projectId: project.id },
				search: { job: jobId },
			}),
	})
	const { result } = job
	const isAny = result && 'errors' in result && result.successCount > 0
	const isLate = job.finishedAt && Date.now() - Date.parse(job.finishedAt) > undoMs
	if (!isAny || isLate) return null
	const { createdCount, updatedCount } = result
	async function ask() {
		const isSure = await confirm({
			title: 'Undo this import?',
			body: `Deletes the ${counted(createdCount, 'contact')} that it created, and gives the ${counted(updatedCount, 'contact')} that it updated their old data back. Contacts that were changed since are left alone.`,
			act: 'Undo the import',
			isDestructive: true,
		})
		if (isSure) mutate()
	}
	return (
		<>
			<Button kind="danger" isBusy={isPending} onClick={() => void ask()}>
				Undo the import
			</Button>
			<Fault error={error} />
		</>
	)
}

/** The API undoes imports for seven days. */
const undoMs = 7 * 86_400_000
