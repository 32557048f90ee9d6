import { useState } from 'react'
import { TextField } from '../../parts/field.tsx'
import { asTyped, typedValue } from './typed-value.ts'

interface Props {
	name: string
	label: string
	hint?: string
	value: unknown
	error: unknown
	onChange: (value: unknown) => void
}

/** A value to compare with: `true` and numbers are not texts. */
export function ValueField({ value, onChange, ...rest }: Props) {
	// Kept as typed: "1.0" is on its way to "1.05".
	const [typed, setTyped] = useState(asTyped(value))
	const isCurrent = JSON.stringify(typedValue(typed)) === JSON.stringify(value)
	return (
		<TextField
			{...rest}
			value={isCurrent ? typed : asTyped(value)}
			onChange={({ target }) => {
				setTyped(target.value)
				onChange(typedValue(target.value))
			}}
		/>
	)
}
