import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { findContacts } from '../contacts/find-contacts.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Select } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { useToast } from '../parts/toast.tsx'
import { hasUnsaved } from '../parts/use-leaving.ts'
import { useProject } from '../shell/projects.ts'
import { faultAt, type Read } from '../workflows/forms/form-props.ts'
import { JsonField } from '../workflows/forms/json-field.tsx'
import { recordOf } from '../workflows/step-words.ts'

interface Props {
	workflow: WorkflowWithSteps
	isOpen: boolean
	onClose: () => void
}

interface Chosen {
	id: string
	email: string
}

export const StartExecution = (props: Props) => (
	<Dialog title="Start for a contact" isOpen={props.isOpen} onClose={props.onClose}>
		<StartForm {...props} />
	</Dialog>
)

function StartForm({ workflow, onClose }: Props) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const toast = useToast()
	const [search, setSearch] = useState('')
	const [read, setRead] = useState<Read>({ value: undefined })
	const unread = 'message' in read ? faultAt('context', read.message) : null
	/** Nobody is suggested: a search that is under way would suggest somebody else. */
	const [chosen, setChosen] = useState<Chosen>()
	const [problem, setProblem] = useState<Error | null>(null)
	const { data: found = [], error: fault } = useQuery({
		queryKey: [project.id, 'contacts', 'choice', search],
		queryFn: ({ signal }) => findContacts(api, search, 20, signal),
		placeholderData: (previous) => previous,
	})
	const { mutate, error, isPending } = useMutation({
		mutationFn: (contact: Chosen) =>
			api.executions.start(workflow.id, {
				contactId: contact.id,
				context: recordOf('value' in read ? read.value : undefined),
			}),
		onSuccess: async ({ id }, { email }) => {
			await queries.invalidateQueries({ queryKey: [project.id, 'workflows'] })
			// Unsaved steps would be lost on another page.
			if (hasUnsaved()) {
				toast({ title: `Started for ${email}` })
				onClose()
				return
			}
			await navigate({
				to: '/console/$projectId/workflows/$workflowId/executions/$executionId',
				params: { projectId: project.id, workflowId: workflow.id, executionId: id },
			})
		},
	})
	const listed = chosen && !found.some(({ id }) => id === chosen.id) ? [chosen, ...found] : found
	const hint = found.length === 0 ? 'No contact is like that' : 'The first 20 are listed'
	return (
		<Form
			act={`Start version ${workflow.version ?? ''}${chosen ? ` for ${chosen.email}` : ''}`}
			error={problem ?? error ?? fault}
			isBusy={isPending}
			cancel={onClose}
			onSubmit={() => {
				const wrong = chosen ? unread : new Error('Choose a contact first.')
				setProblem(wrong)
				if (chosen && !wrong) mutate(chosen)
			}}
		>
			<SearchBox name="Find a contact" value={search} onChange={setSearch} />
			<Select
				name="contactId"
				label="Contact"
				value={chosen?.id ?? ''}
				onChange={({ target }) => setChosen(listed.find(({ id }) => id === target.value))}
				options={[
					{ value: '', name: 'Choose a contact …' },
					...listed.map(({ id, email }) => ({ value: id, name: email })),
				]}
				error={error}
				hint={hint}
			/>
			<JsonField
				field="context"
				label="Variables"
				value={undefined}
				unfinished={undefined}
				hint="Optional JSON. Templates and conditions can use it"
				error={unread ?? error}
				onChange={setRead}
			/>
		</Form>
	)
}
