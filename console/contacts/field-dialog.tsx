import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Button } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { counted } from '../parts/counted.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { Uses } from '../segments/uses.tsx'
import { useProject } from '../shell/projects.ts'

interface Props {
	field: string
	name: string
	onClose: () => void
}

/** The uses of a field, which can be deleted when there are none. */
export function FieldDialog({ field, name, onClose }: Props) {
	const { project, api } = useProject()
	const { data, error } = useQuery({
		queryKey: [project.id, 'contacts', 'fields', field, 'usage'],
		queryFn: () => api.contacts.getFieldUsage(field),
	})
	const remove = useRemoving({ field, name, onClose })
	return (
		<Dialog title={`Field ${name}`} isOpen onClose={onClose}>
			<Stack>
				<Fault error={error ?? remove.error} />
				{data ? (
					<>
						<p>
							{counted(data.contactCount, 'contact')} {data.contactCount === 1 ? 'has' : 'have'}{' '}
							this field.
						</p>
						<Uses
							uses={{
								campaigns: data.usedInCampaigns,
								workflows: data.usedInWorkflows,
								segments: data.usedInSegments,
							}}
						/>
						{data.canDelete ? (
							<Row>
								<Button
									kind="danger"
									isBusy={remove.isPending}
									onClick={() => void remove.ask(data.contactCount)}
								>
									Delete the field
								</Button>
							</Row>
						) : (
							<p>A field that is used can’t be deleted. Change its uses first.</p>
						)}
					</>
				) : (
					!error && <Waiting rows={2} />
				)}
			</Stack>
		</Dialog>
	)
}

function useRemoving({ field, name, onClose }: Props) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const navigate = useNavigate()
	const toast = useToast()
	const { mutate, error, isPending } = useMutation({
		mutationFn: () => api.contacts.deleteField(field),
		onSuccess: async (answer) => {
			onClose()
			if ('jobId' in answer)
				return navigate({
					to: '/console/$projectId/contacts',
					params: { projectId: project.id },
					search: { job: answer.jobId },
				})
			toast({ title: `${name} is deleted from ${counted(answer.deletedFrom, 'contact')}` })
			await queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
		},
	})
	async function ask(count: number) {
		const isSure = await confirm({
			title: `Delete the field ${name}?`,
			body: `${counted(count, 'contact')} will lose it, with its values. This cannot be undone.`,
			act: 'Delete the field',
			isDestructive: true,
		})
		if (isSure) mutate()
	}
	return { ask, error, isPending }
}
