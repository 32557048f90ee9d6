import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { fieldsQuery } from '../contacts/fields-query.ts'
import { eventNamesQuery } from '../events/event-names-query.ts'
import { segmentsQuery } from '../segments/segments-query.ts'
import { useProject } from '../shell/projects.ts'
import { type Names, wordsOfField } from './condition-words.ts'
import { activities } from './condition.ts'

export type FieldType = 'string' | 'number' | 'boolean' | 'date' | 'object' | 'array'

/** A field that a filter may be about. */
export interface FieldOption {
	field: string
	/** As a part of a sentence. */
	name: string
	group: 'Contact' | 'Data' | 'Events' | 'Mails' | 'Segments'
	/** The commonest type of its values. */
	type?: FieldType
}

/** All fields of the project that conditions can name. */
export function useConditionFields(): FieldOption[] {
	const current = useProject()
	const fields = useQuery(fieldsQuery(current))
	const events = useQuery(eventNamesQuery(current))
	const names = useSegmentNames()
	return useMemo(
		() => [
			...(fields.data?.fields ?? []).map(({ field, type }): FieldOption => {
				const group = field.startsWith('data.') ? 'Data' : 'Contact'
				return { field, name: wordsOfField(field), group, type }
			}),
			...(events.data?.eventNames ?? []).map((event) => optionOf(`event.${event}`, 'Events')),
			...activities.map((activity) => optionOf(`email.${activity}`, 'Mails')),
			...[...names].map(([field, name]): FieldOption => ({ field, name, group: 'Segments' })),
		],
		[fields.data, events.data, names],
	)
}

const optionOf = (field: string, group: FieldOption['group']): FieldOption => ({
	field,
	name: wordsOfField(field),
	group,
})

const noSegments: never[] = []

/** For conditions in words. */
export function useSegmentNames(): Names {
	const { data = noSegments } = useQuery(segmentsQuery(useProject()))
	return useMemo(
		() => new Map(data.map(({ id, name }) => [`segment.${id}`, `segment ${name}`])),
		[data],
	)
}
