import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { TextField } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import { useProject } from '../../shell/projects.ts'
import type { Graph } from '../graph.ts'

interface Props {
	graph: Graph
	value: string
	error: unknown
	onChange: (field: string) => void
}

/** The field that a comparison is about: of the contact, the event, or an earlier step. */
export function FactField({ graph, value, error, onChange }: Props) {
	const { project, api } = useProject()
	const list = useId()
	const eventName = textOf(graph.trigger.config['eventName']) || undefined
	const { data } = useQuery({
		queryKey: [project.id, 'workflows', 'fields', eventName],
		queryFn: () => api.workflows.listFields({ eventName }),
		staleTime: 60_000,
	})
	return (
		<>
			<TextField
				name="config.field"
				label="Field"
				list={list}
				hint="Begins with contact., event., execution., workflow. or steps."
				value={value}
				error={error}
				onChange={({ target }) => onChange(target.value)}
			/>
			<datalist id={list}>
				{data?.fields.map((field) => (
					<option key={field} value={field} />
				))}
			</datalist>
		</>
	)
}
