import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Tempost } from '../../client/index.ts'
import { findContacts } from '../contacts/find-contacts.ts'
import { useSettled } from '../parts/use-settled.ts'
import type { Command } from './commands.ts'
import { useProject } from './projects.ts'

interface Found {
	name: string
	kind: string
	path: string
}

const mostOfKind = 5
const shortest = 2
const isId = (typed: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(typed)

/** Records by a part of their names or addresses, and a mail by its id, once the reader stops typing. */
export function useRecords(typed: string): Command[] {
	const { project, api } = useProject()
	const navigate = useNavigate()
	const wanted = useSettled(typed.trim(), 200)
	const { data } = useQuery({
		queryKey: [project.id, 'records', wanted],
		queryFn: () => find(api, wanted),
		enabled: wanted.length >= shortest,
	})
	return useMemo(
		() =>
			// Enter must not open what an earlier text has found.
			(typed.trim() === wanted ? (data ?? []) : []).map(({ name, kind, path }) => ({
				name,
				kind,
				act: () => void navigate({ to: `/console/${project.id}/${path}` as '/' }),
			})),
		[data, typed, wanted, navigate, project.id],
	)
}

async function find(api: Tempost, search: string): Promise<Found[]> {
	if (isId(search)) return [{ name: search, kind: 'Mail', path: `emails/${search}` }]
	const page = { search, pageSize: mostOfKind }
	const [contacts, segments, templates, campaigns, workflows] = await Promise.all([
		findContacts(api, search, mostOfKind),
		api.segments.list(),
		api.templates.list(page),
		api.campaigns.list(page),
		api.workflows.list(page),
	])
	const letters = search.toLowerCase()
	return [
		...contacts.map(({ id, email }) => found(email, 'Contact', `contacts/${id}`)),
		...segments
			.filter(({ name }) => name.toLowerCase().includes(letters))
			.slice(0, mostOfKind)
			.map(({ id, name }) => found(name, 'Segment', `segments/${id}`)),
		...templates.data.map(({ id, name }) => found(name, 'Template', `templates/${id}`)),
		...campaigns.data.map(({ id, name }) => found(name, 'Campaign', `campaigns/${id}`)),
		...workflows.data.map(({ id, name }) => found(name, 'Workflow', `workflows/${id}`)),
	]
}

const found = (name: string, kind: string, path: string): Found => ({ name, kind, path })
