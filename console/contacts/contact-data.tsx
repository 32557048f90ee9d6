import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Contact, TempostError } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { changesOf } from '../parts/changes-of.ts'
import { Facts } from '../parts/figures.tsx'
import { Section, Soft } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { ContactForm, type ContactInput } from './contact-form.tsx'
import { changeBetween, sortedEntries } from './data-rows.ts'
import { dataText } from './data-text.ts'
import { TakenBy } from './taken-by.tsx'

/** The address and the data of a contact, to be read and to be edited. */
export function ContactData({ contact }: { contact: Contact }) {
	const [isEditing, setEditing] = useState(false)
	const entries = sortedEntries(contact.data)
	if (isEditing)
		return (
			<Section title="Edit">
				<Edit contact={contact} onClose={() => setEditing(false)} />
			</Section>
		)
	return (
		<Section title="Data" actions={<Button onClick={() => setEditing(true)}>Edit</Button>}>
			{entries.length === 0 ? (
				<Soft>No data yet. Templates and conditions can use any field that you add.</Soft>
			) : (
				<Facts facts={entries.map(([key, value]) => [key, dataText(value)])} />
			)}
		</Section>
	)
}

function Edit({ contact: given, onClose }: { contact: Contact; onClose: () => void }) {
	// As it was when the editing began: later changes of others are not undone by saving.
	const [contact] = useState(given)
	const { project, api } = useProject()
	const queries = useQueryClient()
	const toast = useToast()
	const { mutate, error, isPending } = useMutation({
		mutationFn: ({ email, subscribed, rows }: ContactInput) =>
			api.contacts.update(contact.id, {
				...changesOf(contact, { email, subscribed }),
				data: changeBetween(contact.data, rows),
			}),
		onSuccess: async () => {
			onClose()
			toast({ title: 'The contact is saved' })
			await queries.invalidateQueries({ queryKey: [project.id, 'contacts'] })
		},
	})
	return (
		<>
			<ContactForm
				contact={contact}
				act="Save"
				onSubmit={mutate}
				isBusy={isPending}
				error={error}
				cancel={onClose}
			/>
			{error instanceof TempostError && <TakenBy details={error.details} />}
		</>
	)
}
