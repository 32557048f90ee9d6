import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Contact } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { counted } from '../parts/counted.ts'
import { deletionOf } from '../parts/deletion.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Checkbox } from '../parts/field.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'

/** Asks how much of a person is deleted, with counts. */
export function DeleteContact({ contact, onClose }: { contact: Contact; onClose: () => void }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const navigate = useNavigate()
	const toast = useToast()
	const [isErasing, setErasing] = useState(false)
	const { mutate, error, isPending } = useMutation({
		mutationKey: deletionOf(contact.id),
		mutationFn: () => api.contacts.delete(contact.id, { erase: isErasing }),
		onSuccess: async () => {
			toast({ title: isErasing ? 'The person is erased' : `${contact.email} is deleted` })
			await navigate({ to: '/console/$projectId/contacts', params: { projectId: project.id } })
			queries.removeQueries({ queryKey: [project.id, 'contacts', contact.id] })
			await queries.invalidateQueries({ queryKey: [project.id] })
		},
	})
	return (
		<Dialog title={`Delete ${contact.email}?`} isOpen onClose={onClose}>
			<Stack>
				<Consequences contact={contact} isErasing={isErasing} />
				<Checkbox
					label="Erase the person everywhere"
					hint="Also from mails, events, job records and the suppression list. A later import can then add the address again."
					checked={isErasing}
					onChange={({ target }) => setErasing(target.checked)}
				/>
				<Fault error={error} />
				<Row>
					<Button kind="danger" isBusy={isPending} onClick={() => mutate()}>
						{isErasing ? 'Erase the person' : 'Delete the contact'}
					</Button>
					<Button onClick={onClose}>Cancel</Button>
				</Row>
			</Stack>
		</Dialog>
	)
}

function Consequences({ contact, isErasing }: { contact: Contact; isErasing: boolean }) {
	const { project, api } = useProject()
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'contacts', contact.id, 'consequences'],
		queryFn: async () => {
			const [mails, running, waiting] = await Promise.all([
				api.emails.list({ contactId: contact.id, limit: 1, bodies: false }),
				api.contacts.listExecutions(contact.id, { status: 'RUNNING', pageSize: 1 }),
				api.contacts.listExecutions(contact.id, { status: 'WAITING', pageSize: 1 }),
			])
			return { mails: mails.total, executions: running.total + waiting.total }
		},
	})
	if (!data && error) return <Fault error={error} retry={() => void refetch()} />
	if (!data) return <p>Counting mails and workflow executions …</p>
	const { executions, mails } = data
	const ofMails = isErasing
		? 'will lose the address and the content'
		: 'will stay, with the address'
	return (
		<p>
			{executions > 0 && `${counted(executions, 'workflow execution')} will end. `}
			{mails > 0 && `${counted(mails, 'mail')} to this person ${ofMails}. `}
			This cannot be undone.
		</p>
	)
}
