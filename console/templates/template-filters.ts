import type { Template } from '../../client/index.ts'
import { types } from '../editor/content.ts'

/** The filters of the gallery, as they are in its address. */
export interface TemplateFilters {
	search?: string | undefined
	type?: Template['type'] | undefined
}

export const readFilters = ({ search, type }: Record<string, unknown>): TemplateFilters => ({
	// Digits alone have become a number on the way.
	search:
		typeof search === 'number' ? String(search) : typeof search === 'string' ? search : undefined,
	type: types.find(({ value }) => value === type)?.value,
})
