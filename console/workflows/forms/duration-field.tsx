import { useState } from 'react'
import { Select, TextField } from '../../parts/field.tsx'
import styles from '../editor.module.css'
import { units } from '../durations.ts'

interface Props {
	label: string
	field: string
	amount: number | undefined
	unit: string
	error: unknown
	hint?: string
	onChange: (amount: number | undefined, unit: string) => void
}

/** An amount of time in a unit of the reader's choice. */
export function DurationField({ label, field, amount, unit, error, hint, onChange }: Props) {
	// The text is shown as it is typed until the field is left: "1." is on its way to "1.5", and an empty one to another amount.
	const [typed, setTyped] = useState<string>()
	return (
		<div className={styles.line}>
			<TextField
				name={field}
				label={label}
				inputMode="decimal"
				value={typed ?? (amount === undefined ? '' : String(amount))}
				error={error}
				{...(hint && { hint })}
				onBlur={() => setTyped(undefined)}
				onChange={({ target }) => {
					setTyped(target.value)
					const number = Number(target.value.replace(',', '.'))
					onChange(target.value.trim() === '' || Number.isNaN(number) ? undefined : number, unit)
				}}
			/>
			<Select
				name={`${field} unit`}
				label="Unit"
				options={units}
				value={unit}
				onChange={({ target }) => onChange(amount, target.value)}
			/>
		</div>
	)
}
