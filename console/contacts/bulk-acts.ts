import type { BulkSelection, Tempost } from '../../client/index.ts'

export type BulkAct = 'subscribe' | 'unsubscribe' | 'delete'

export function beginBulk(api: Tempost, act: BulkAct, selection: BulkSelection) {
	if (act === 'delete') return api.contacts.deleteMany(selection)
	return act === 'subscribe'
		? api.contacts.subscribeMany(selection)
		: api.contacts.unsubscribeMany(selection)
}

/** Takes a job back: an act on the contacts that the job changed. */
interface Undo {
	act: BulkAct
	selection: BulkSelection
}

const undos = new Map<string, Undo>()

/** Until the page is left. The API itself can't take back a bulk job. */
export const rememberUndo = (jobId: string, undo: Undo) => void undos.set(jobId, undo)
export const undoOf = (jobId: string) => undos.get(jobId)
