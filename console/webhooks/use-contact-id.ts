import { useQuery } from '@tanstack/react-query'
import { useProject } from '../shell/projects.ts'
import { idOf } from './delivery-filters.ts'

/** The contact that a reader means by its address or its id; `fault` says why there is none. */
export function useContactId(typed: string | undefined) {
	const { project, api } = useProject()
	const text = typed?.trim() ?? ''
	const address = text.includes('@') ? text.toLowerCase() : ''
	const { data, isPending } = useQuery({
		queryKey: [project.id, 'contacts', 'at', address],
		queryFn: async () => {
			const { data: found } = await api.contacts.query({ search: address, count: false })
			return found.find(({ email }) => email.toLowerCase() === address)?.id ?? null
		},
		enabled: address !== '',
	})
	if (text === '') return {}
	if (address) {
		if (isPending) return {}
		return data ? { contactId: data } : { fault: `No contact has the address ${text}.` }
	}
	const contactId = idOf(text)
	return contactId ? { contactId } : { fault: 'Give the whole address or the whole id.' }
}
