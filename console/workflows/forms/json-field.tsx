import { useState } from 'react'
import { TempostError } from '../../../client/index.ts'
import { TextArea } from '../../parts/field.tsx'

interface Props {
	field: string
	label: string
	value: unknown
	hint: string
	error: unknown
	onChange: (value: unknown) => void
}

/** A value as JSON. While it can't be read, the last one that could be stays. */
export function JsonField({ field, label, value, hint, error, onChange }: Props) {
	const [typed, setTyped] = useState(() =>
		value === undefined || value === null ? '' : JSON.stringify(value, null, 2),
	)
	const [fault, setFault] = useState<TempostError>()
	function change(text: string) {
		setTyped(text)
		try {
			onChange(text.trim() === '' ? undefined : JSON.parse(text))
			setFault(undefined)
		} catch (cause) {
			const message = `is not JSON yet: ${cause instanceof Error ? cause.message : ''}`
			const fields = [{ field, message, code: 'custom' as const }]
			setFault(new TempostError('VALIDATION_ERROR', message, { fields }))
		}
	}
	return (
		<TextArea
			name={field}
			label={label}
			rows={5}
			spellCheck={false}
			hint={hint}
			value={typed}
			error={fault ?? error}
			onChange={({ target }) => change(target.value)}
		/>
	)
}
