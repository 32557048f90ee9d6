/** Unsaved content of this tab. It survives a reload, a crash and a new log-in. */
export interface Draft<Values> {
	values: Values
	/** The `updatedAt` of the version that was changed; none for new content. */
	version: string | undefined
}

const nameOf = (id: string) => `tempost.draft.${id}`

export function readDraft<Values>(id: string): Draft<Values> | undefined {
	const kept = sessionStorage.getItem(nameOf(id))
	return kept ? (JSON.parse(kept) as Draft<Values>) : undefined
}

export function keepDraft<Values>(id: string, draft: Draft<Values>) {
	try {
		sessionStorage.setItem(nameOf(id), JSON.stringify(draft))
	} catch {
		// The storage is full. The text is still in the page, which asks before it is left.
	}
}

export const dropDraft = (id: string) => sessionStorage.removeItem(nameOf(id))
