import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { CreateWorkflowInput } from '../../client/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Checkbox, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useProject } from '../shell/projects.ts'
import { EventNameField } from './forms/event-name-field.tsx'

export const NewWorkflow = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => (
	<Dialog title="New workflow" isOpen={isOpen} onClose={onClose}>
		<NewWorkflowForm onClose={onClose} />
	</Dialog>
)

function NewWorkflowForm({ onClose }: { onClose: () => void }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const [eventName, setEventName] = useState('')
	const { mutate, error, isPending } = useMutation({
		mutationFn: (input: CreateWorkflowInput) => api.workflows.create(input),
		onSuccess: async ({ id }) => {
			await queries.invalidateQueries({ queryKey: [project.id, 'workflows'] })
			await navigate({
				to: '/console/$projectId/workflows/$workflowId',
				params: { projectId: project.id, workflowId: id },
			})
		},
	})
	return (
		<Form
			act="Create workflow"
			error={error}
			isBusy={isPending}
			cancel={onClose}
			onSubmit={(values) =>
				mutate({
					name: values.text('name'),
					eventName,
					allowReentry: values.isChecked('allowReentry'),
				})
			}
		>
			<TextField name="name" label="Name" maxLength={100} error={error} />
			<EventNameField
				label="Starts with the event"
				field="eventName"
				value={eventName}
				hint="The name that your application tracks, such as signup. A schedule or a start by hand can be chosen later"
				error={error}
				onChange={setEventName}
			/>
			<Checkbox
				name="allowReentry"
				label="A contact may enter again"
				hint="After their earlier execution has ended"
			/>
		</Form>
	)
}
