import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useProject } from '../shell/projects.ts'
import { activities } from './condition.ts'
import { type Names, wordsOfField } from './condition-words.ts'

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

const minuteMs = 60_000

/** All fields of the project that conditions can name. */
export function useConditionFields(): FieldOption[] {
	const { project, api } = useProject()
	const fields = useQuery({
		queryKey: [project.id, 'contacts', 'fields'],
		queryFn: () => api.contacts.listFields(),
		staleTime: minuteMs,
	})
	const events = useQuery({
		queryKey: [project.id, 'events', 'names'],
		queryFn: () => api.events.listNames(),
		staleTime: minuteMs,
	})
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
	const { project, api } = useProject()
	const { data = noSegments } = useQuery({
		queryKey: [project.id, 'segments'],
		queryFn: () => api.segments.list(),
		staleTime: minuteMs,
	})
	return useMemo(
		() => new Map(data.map(({ id, name }) => [`segment.${id}`, `segment ${name}`])),
		[data],
	)
}
