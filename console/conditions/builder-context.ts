import { createContext, useContext } from 'react'
import type { FieldOption } from './condition-fields.ts'
import type { Names } from './condition-words.ts'

interface Builder {
	fields: FieldOption[]
	names: Names
	/** The API's message for a filter. */
	faultAt: (path: string) => string | undefined
	isFull: boolean
}

export const BuilderContext = createContext<Builder | null>(null)

export function useBuilder() {
	const builder = useContext(BuilderContext)
	if (!builder) throw new Error('This is a part of a condition builder')
	return builder
}
