import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { changesOf } from '../parts/changes-of.ts'
import { TextArea, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useProject } from '../shell/projects.ts'
import { actOn, type Perform } from './act-on-workflow.ts'

export function RenameForm({
	workflow,
	perform,
	onDone,
}: {
	workflow: WorkflowWithSteps
	perform: Perform
	onDone: () => void
}) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const { mutate, error, isPending } = useMutation({
		...actOn(workflow.id),
		mutationFn: (input: { name: string; description: string | null }) =>
			perform(() => api.workflows.update(workflow.id, changesOf(workflow, input))),
		onSuccess: async () => {
			await queries.invalidateQueries({ queryKey: [project.id, 'workflows'] })
			onDone()
		},
	})
	return (
		<Form
			act="Save"
			error={error}
			isBusy={isPending}
			onSubmit={(values) =>
				mutate({ name: values.text('name'), description: values.optional('description') ?? null })
			}
		>
			<TextField
				name="name"
				label="Name"
				defaultValue={workflow.name}
				maxLength={100}
				error={error}
			/>
			<TextArea
				name="description"
				label="Note"
				hint="For you and your team"
				maxLength={500}
				defaultValue={workflow.description ?? ''}
				error={error}
			/>
		</Form>
	)
}
