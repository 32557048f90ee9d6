/** Unsaved content of this tab. It survives a reload, a crash and a new log-in of the same person. */
export interface Draft<Values> {
	values: Values
	/** The `updatedAt` of the version that was changed; none for new content. */
	version: string | undefined
}

const prefix = 'tempost.draft.'
const nameOf = (id: string) => `${prefix}${id}`
const person = 'tempost.drafts-of'

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

const draftNames = () => Object.keys(sessionStorage).filter((name) => name.startsWith(prefix))
export const hasDrafts = () => draftNames().length > 0

/** A session may end without a log-out, and another person log in. */
export function keepDraftsOf(userId: string) {
	if (sessionStorage.getItem(person) !== userId)
		for (const name of draftNames()) sessionStorage.removeItem(name)
	sessionStorage.setItem(person, userId)
}
