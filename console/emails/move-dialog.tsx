import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { EmailWithAttempts } from '../../client/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useToast } from '../parts/toast.tsx'
import { timeProblem } from '../parts/time-problem.ts'
import { useProject } from '../shell/projects.ts'

interface Props {
	mail: EmailWithAttempts
	isOpen: boolean
	onClose: () => void
}

/** Another time for a scheduled mail. It stays open until the time is accepted. */
export const MoveDialog = ({ mail, isOpen, onClose }: Props) => (
	<Dialog title="Move the mail" isOpen={isOpen} onClose={onClose}>
		<MoveForm mail={mail} onDone={onClose} />
	</Dialog>
)

function MoveForm({ mail, onDone }: { mail: EmailWithAttempts; onDone: () => void }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const [problem, setProblem] = useState<Error | null>(null)
	const { mutate, error, isPending } = useMutation({
		mutationFn: (at: Date) => api.emails.update(mail.id, { delivery: { at: at.toISOString() } }),
		onSuccess: async () => {
			toast({ title: 'The mail is moved' })
			onDone()
			await queries.invalidateQueries({ queryKey: [project.id, 'emails'] })
		},
	})
	return (
		<Form
			act="Move"
			error={problem ?? error}
			isBusy={isPending}
			cancel={onDone}
			onSubmit={(values) => {
				const at = values.text('at')
				const found = timeProblem(at)
				setProblem(found)
				if (!found) mutate(new Date(at))
			}}
		>
			<TextField
				name="at"
				label="New time"
				type="datetime-local"
				hint="In your time zone, at most 30 days ahead"
				defaultValue={localTime(mail.scheduledFor)}
			/>
		</Form>
	)
}

/** A moment as the browser's field for times takes it: in the reader's zone, without one. */
function localTime(at: string | null) {
	if (!at) return ''
	const date = new Date(at)
	return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
