import type { Contact, Tempost } from '../../client/index.ts'

/** The contact with this address. */
export async function findContactAt(api: Tempost, address: string, signal?: AbortSignal) {
	const filters = [{ field: 'email', operator: 'equals' as const, value: address }]
	const condition = { logic: 'AND' as const, groups: [{ filters }] }
	const { data } = await api.contacts.query({ condition, limit: 1, count: false }, { signal })
	return data[0]
}

/** Contacts whose addresses contain the text. One that has it as its whole address is never left out. */
export async function findContacts(
	api: Tempost,
	search: string,
	limit: number,
	signal?: AbortSignal,
): Promise<Contact[]> {
	const { data, hasMore } = await api.contacts.query({ search, limit, count: false }, { signal })
	const address = search.trim().toLowerCase()
	if (!hasMore || !address.includes('@') || data.some(({ email }) => email === address)) return data
	const meant = await findContactAt(api, address, signal)
	return meant ? [meant, ...data.slice(0, -1)] : data
}
