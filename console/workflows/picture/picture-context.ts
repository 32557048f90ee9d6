import { createContext, useContext } from 'react'
import type { Tone } from '../../parts/badge.tsx'
import type { Opening } from '../graph-edits.ts'

/** What is known of a step besides its definition. */
export interface Mark {
	/** How many people are at it now. */
	here?: number
	passed?: number
	failed?: number
	tone?: Tone
	/** A word beside the kind, such as "Added". */
	note?: string
	/** When it was reached or passed. */
	at?: string
	/** The first of its faults. */
	fault?: string
}

export interface Picture {
	marks: ReadonlyMap<string, Mark>
	summaries: ReadonlyMap<string, string>
	chosen: string | undefined
	onChoose: ((stepId: string) => void) | undefined
	/** Absent: the picture is only looked at. */
	onAdd: ((opening: Opening) => void) | undefined
	/** The ways that were taken, by their keys. */
	walked: ReadonlySet<string> | undefined
}

export const PictureContext = createContext<Picture | null>(null)

export function usePicture() {
	const picture = useContext(PictureContext)
	if (!picture) throw new Error('This is not part of a picture')
	return picture
}
