import { Combobox } from '@base-ui/react/combobox'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState } from 'react'
import type { Contact } from '../../client/index.ts'
import { findContacts } from '../contacts/find-contacts.ts'
import { useProject } from '../shell/projects.ts'
import styles from './contact-choice.module.css'

interface Props {
	value: Contact | null
	onChange: (contact: Contact | null) => void
}

const mostFound = 8

/** One contact, searched by the address. */
export function ContactChoice({ value, onChange }: Props) {
	const { project, api } = useProject()
	const [typed, setTyped] = useState('')
	const search = typed === value?.email ? '' : typed.trim()
	const { data, isFetching } = useQuery({
		queryKey: [project.id, 'contacts', 'found', search],
		queryFn: ({ signal }) => findContacts(api, search, mostFound, signal),
		placeholderData: (previous) => previous,
	})
	return (
		<Combobox.Root
			items={data ?? []}
			filter={null}
			value={value}
			onValueChange={onChange}
			onInputValueChange={setTyped}
			itemToStringLabel={({ email }: Contact) => email}
			isItemEqualToValue={(one: Contact, other: Contact) => one.id === other.id}
		>
			<div className={styles.choice}>
				<Combobox.Input
					className={styles.input}
					aria-label="Show the mail of"
					placeholder="Show the mail of a contact…"
				/>
				<Combobox.Clear className={styles.clear} aria-label="Choose nobody">
					<X size={15} />
				</Combobox.Clear>
			</div>
			<Combobox.Portal>
				<Combobox.Positioner className={styles.place} sideOffset={4}>
					<Combobox.Popup className={styles.popup}>
						<Combobox.Empty>
							<p className={styles.none}>
								{isFetching ? 'Searching…' : 'No contact has an address like that.'}
							</p>
						</Combobox.Empty>
						<Combobox.List>
							{(contact: Contact) => (
								<Combobox.Item key={contact.id} value={contact} className={styles.item}>
									{contact.email}
								</Combobox.Item>
							)}
						</Combobox.List>
					</Combobox.Popup>
				</Combobox.Positioner>
			</Combobox.Portal>
		</Combobox.Root>
	)
}
