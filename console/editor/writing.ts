import { useSyncExternalStore } from 'react'
import { type Draft, dropDraft, keepDraft } from './drafts.ts'

const pauseMs = 300
let openings = 0

/**
 * Values while they are written. Listeners are notified when the writer pauses, and not at each key: a text of
 * 100 KB is not even read before.
 */
export class Writing<Values extends { body: string }> {
	/** For drafts. */
	id: string
	/** For keys of queries: each opening of an editor has its own. */
	readonly opening = ++openings
	/** The values at the last pause. */
	paused: Values
	/** Counts the pauses. */
	pauses = 0
	isChanged: boolean
	/** Whether it began with a draft. */
	readonly isRestored: boolean
	/** The `updatedAt` of the version that is being changed. */
	version: string | undefined
	#values: Values
	#saved: Values
	#readBody: (() => string) | undefined
	#timer: ReturnType<typeof setTimeout> | undefined
	#listeners = new Set<() => void>()

	constructor(id: string, saved: Values, version?: string, draft?: Draft<Values>) {
		this.id = id
		this.#saved = saved
		this.#values = draft?.values ?? saved
		this.paused = this.#values
		this.version = draft ? draft.version : version
		this.isRestored = draft !== undefined
		this.isChanged = this.isRestored
	}

	change(changes: Partial<Values>) {
		this.#values = { ...this.#values, ...changes }
		this.#touch()
	}

	changeBody(read: () => string) {
		this.#readBody = read
		this.#touch()
	}

	now(): Values {
		if (this.#readBody) this.#values = { ...this.#values, body: this.#readBody() }
		this.#readBody = undefined
		return this.#values
	}

	/** Text that was typed since these values were sent is still unsaved. The first save of a new text gives it an `id`. */
	save(sent: Values, version: string, id = this.id) {
		if (id !== this.id) dropDraft(this.id)
		this.id = id
		this.#saved = sent
		this.version = version
		this.#pause()
	}

	/** Before the page goes away: what was typed since the last pause is in the draft, too. */
	keep = () => {
		if (this.isChanged) this.#pause()
	}

	/** Forgets the draft, because its writer does not want it. */
	discard() {
		clearTimeout(this.#timer)
		this.isChanged = false
		dropDraft(this.id)
	}

	follow = (listener: () => void) => {
		this.#listeners.add(listener)
		return () => void this.#listeners.delete(listener)
	}

	#touch() {
		clearTimeout(this.#timer)
		this.#timer = setTimeout(() => this.#pause(), pauseMs)
		if (this.isChanged) return
		this.isChanged = true
		this.#tell()
	}

	#pause() {
		clearTimeout(this.#timer)
		this.paused = this.now()
		this.pauses += 1
		this.isChanged = !isSame(this.paused, this.#saved)
		if (this.isChanged) keepDraft(this.id, { values: this.paused, version: this.version })
		else dropDraft(this.id)
		this.#tell()
	}

	#tell() {
		for (const listener of this.#listeners) listener()
	}
}

const isSame = (one: object, other: object) => JSON.stringify(one) === JSON.stringify(other)

/** The values at the last pause of the writer. */
export const usePaused = <Values extends { body: string }>(writing: Writing<Values>) =>
	useSyncExternalStore(writing.follow, () => writing.paused)

export const useIsChanged = <Values extends { body: string }>(writing: Writing<Values>) =>
	useSyncExternalStore(writing.follow, () => writing.isChanged)
