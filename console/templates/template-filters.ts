import type { Template } from '../../client/index.ts'
import { types } from '../editor/content.ts'
import { textParam } from '../parts/text-param.ts'

/** The filters of the gallery, as they are in its address. */
export interface TemplateFilters {
	search?: string | undefined
	type?: Template['type'] | undefined
}

export const readFilters = ({ search, type }: Record<string, unknown>): TemplateFilters => ({
	search: textParam(search),
	type: types.find(({ value }) => value === type)?.value,
})
