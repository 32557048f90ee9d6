import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { fieldsQuery } from '../contacts/fields-query.ts'
import { useProject } from '../shell/projects.ts'

/** A variable of a template, for completion: `['company', 'name']` for `company.name`. */
export interface Variable {
	path: string[]
	detail: string
}

/** The same for every mail; docs/sending.md describes them. */
const builtIn: Variable[] = [
	{ path: ['id'], detail: 'of the contact' },
	{ path: ['email'], detail: 'of the contact' },
	{ path: ['locale'], detail: 'language of the contact' },
	{ path: ['subscribed'], detail: 'true or false' },
	{ path: ['unsubscribeUrl'], detail: 'page to unsubscribe' },
	{ path: ['subscribeUrl'], detail: 'page to subscribe' },
	{ path: ['manageUrl'], detail: 'page to choose mail' },
	{ path: ['data'], detail: 'all data of the contact' },
]

const isName = /^[\p{L}_][\p{L}\p{N}_-]*$/u

/** The variables that contacts of this project have, and those that every mail has. */
export function useVariables(): Variable[] {
	const { data } = useQuery(fieldsQuery(useProject()))
	return useMemo(() => [...builtIn, ...(data?.fields ?? []).flatMap(variablesOf)], [data])
}

/** Fields whose names are not words are reached as `data["first name"]`, which is not completed. */
function variablesOf({ field, type }: { field: string; type: string }): Variable[] {
	const name = field.startsWith('data.') ? field.slice('data.'.length) : ''
	if (!isName.test(name)) return []
	return [
		{ path: [name], detail: type },
		{ path: ['data', name], detail: type },
	]
}
