import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Contact } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { DeleteContact } from './delete-contact.tsx'

export function ContactActs({ contact }: { contact: Contact }) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const [isDeleting, setDeleting] = useState(false)
	const { mutate, error, isPending } = useMutation({
		mutationFn: (subscribed: boolean) => api.contacts.update(contact.id, { subscribed }),
		onSuccess: async ({ subscribed }) => {
			toast({
				title: `${contact.email} is ${subscribed ? 'subscribed' : 'unsubscribed'}`,
				undo: () => mutate(!subscribed),
			})
			await queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
		},
	})
	return (
		<>
			<Fault error={error} />
			<Button onClick={() => mutate(!contact.subscribed)} isBusy={isPending}>
				{contact.subscribed ? 'Unsubscribe' : 'Subscribe'}
			</Button>
			<Button kind="danger" onClick={() => setDeleting(true)}>
				Delete
			</Button>
			{isDeleting && <DeleteContact contact={contact} onClose={() => setDeleting(false)} />}
		</>
	)
}
