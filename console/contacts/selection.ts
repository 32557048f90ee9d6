import { useState } from 'react'
import type { BulkSelection, Contact } from '../../client/index.ts'

/** Contacts that were chosen one by one, or all that match the filters except some. */
export type Selection =
	| { mode: 'ids'; chosen: ReadonlyMap<string, Contact> }
	| { mode: 'query'; excluded: ReadonlySet<string> }

/** The API takes so many ids at once. */
export const mostChosen = 1000

const none: Selection = { mode: 'ids', chosen: new Map() }

/** Forgotten when the filters change, because it would be about other contacts. */
export function useSelection(filters: string) {
	const [kept, setKept] = useState({ filters, selection: none })
	const selection = kept.filters === filters ? kept.selection : none
	const set = (changed: Selection) => setKept({ filters, selection: changed })
	return {
		selection,
		has: ({ id }: Contact) =>
			selection.mode === 'ids' ? selection.chosen.has(id) : !selection.excluded.has(id),
		toggle: (contact: Contact) => set(toggled(selection, contact)),
		chooseAll: () => set({ mode: 'query', excluded: new Set() }),
		chooseNone: () => set(none),
	}
}

function toggled(selection: Selection, contact: Contact): Selection {
	if (selection.mode === 'query') {
		const excluded = new Set(selection.excluded)
		if (!excluded.delete(contact.id)) excluded.add(contact.id)
		return { mode: 'query', excluded }
	}
	const chosen = new Map(selection.chosen)
	if (!chosen.delete(contact.id) && chosen.size < mostChosen) chosen.set(contact.id, contact)
	return { mode: 'ids', chosen }
}

/** Undefined: too many to be counted. */
export function countOf(selection: Selection, total: number | undefined) {
	if (selection.mode === 'ids') return selection.chosen.size
	return total === undefined ? undefined : Math.max(0, total - selection.excluded.size)
}

export const bulkOf = (selection: Selection, filter: BulkSelection['filter']): BulkSelection =>
	selection.mode === 'ids'
		? { contactIds: [...selection.chosen.keys()] }
		: { mode: 'query', filter, excludeIds: [...selection.excluded] }
