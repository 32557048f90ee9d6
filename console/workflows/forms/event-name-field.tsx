import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { eventNamesQuery } from '../../events/event-names-query.ts'
import { TextField } from '../../parts/field.tsx'
import { useProject } from '../../shell/projects.ts'

interface Props {
	label: string
	field: string
	value: string
	hint?: string
	error?: unknown
	onChange: (name: string) => void
}

/** The name of an event, with those that have happened before to choose from. */
export function EventNameField({ label, field, value, hint, error, onChange }: Props) {
	const list = useId()
	const { data } = useQuery(eventNamesQuery(useProject()))
	return (
		<>
			<TextField
				name={field}
				label={label}
				list={list}
				value={value}
				error={error}
				{...(hint && { hint })}
				onChange={({ target }) => onChange(target.value)}
			/>
			<datalist id={list}>
				{data?.eventNames.map((name) => (
					<option key={name} value={name} />
				))}
			</datalist>
		</>
	)
}
