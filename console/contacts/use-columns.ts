import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { useProject } from '../shell/projects.ts'
import { fieldsQuery } from './fields-query.ts'

/** A browser shows no more beside each other. */
export const mostColumns = 6
const columnsAtFirst = 2

/** The fields of data that the list shows, as this browser remembers them. */
export function useColumns() {
	const current = useProject()
	const { project } = current
	const name = `tempost.columns.${project.id}`
	const [chosen, setChosen] = useState(() => remembered(name))
	const { data } = useQuery(fieldsQuery(current))
	const fields = (data?.fields ?? []).filter(({ field }) => field.startsWith('data.'))
	const commonest = fields
		.filter(({ type }) => type !== 'object' && type !== 'array')
		.toSorted((one, other) => other.coverage - one.coverage)
		.slice(0, columnsAtFirst)
		.map(({ field }) => field.slice('data.'.length))
	function choose(keys: string[]) {
		localStorage.setItem(name, JSON.stringify(keys))
		setChosen(keys)
	}
	return {
		/** Keys of data. */
		keys: chosen ?? commonest,
		available: fields.map(({ field }) => field.slice('data.'.length)),
		choose,
	}
}

function remembered(name: string): string[] | undefined {
	const kept: unknown = JSON.parse(localStorage.getItem(name) ?? 'null')
	return Array.isArray(kept) ? kept.filter((key) => typeof key === 'string') : undefined
}
