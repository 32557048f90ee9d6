import { useState } from 'react'
import { TextArea } from '../../parts/field.tsx'
import type { Unfinished } from '../graph.ts'
import type { Read } from './form-props.ts'

interface Props {
	field: string
	label: string
	value: unknown
	unfinished: Unfinished | undefined
	hint: string
	error: unknown
	onChange: (read: Read) => void
}

/** A value as JSON. */
export function JsonField({ field, label, value, unfinished, hint, error, onChange }: Props) {
	const [typed, setTyped] = useState(() => unfinished?.text ?? textOfJson(value))
	return (
		<TextArea
			name={field}
			label={label}
			rows={5}
			spellCheck={false}
			hint={hint}
			value={typed}
			error={error}
			onChange={({ target }) => {
				setTyped(target.value)
				onChange(readJson(target.value))
			}}
		/>
	)
}

const textOfJson = (value: unknown) =>
	value === undefined || value === null ? '' : JSON.stringify(value, null, 2)

function readJson(text: string): Read {
	if (text.trim() === '') return { value: undefined }
	try {
		return { value: JSON.parse(text) as unknown }
	} catch (cause) {
		return { text, message: `is not JSON yet: ${cause instanceof Error ? cause.message : ''}` }
	}
}
