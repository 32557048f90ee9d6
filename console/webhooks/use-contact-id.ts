import { useQuery } from '@tanstack/react-query'
import { findContactAt } from '../contacts/find-contacts.ts'
import { useProject } from '../shell/projects.ts'
import { idOf } from './delivery-filters.ts'

/** The contact that a reader means by its address or its id; `fault` says why there is none. */
export function useContactId(typed: string | undefined) {
	const { project, api } = useProject()
	const text = typed?.trim() ?? ''
	const address = text.includes('@') ? text.toLowerCase() : ''
	const { data, error, isPending } = useQuery({
		queryKey: [project.id, 'contacts', 'at', address],
		queryFn: async () => (await findContactAt(api, address))?.id ?? null,
		enabled: address !== '',
	})
	if (text === '') return {}
	if (address) {
		if (isPending) return {}
		if (error) return { fault: error.message }
		return data ? { contactId: data } : { fault: `No contact has the address ${text}.` }
	}
	const contactId = idOf(text)
	return contactId ? { contactId } : { fault: 'Give the whole address or the whole id.' }
}
