import { useEffect, useRef, useState } from 'react'
import styles from './field.module.css'

interface Props {
	name: string
	value: string | undefined
	options: readonly { value: string; name: string }[]
	/** The choice that filters nothing. Absent: something is always chosen. */
	all?: string
	onChange: (value: string | undefined) => void
}

/** One filter of a list. */
export const Filter = ({ name, value, options, all, onChange }: Props) => (
	<select
		className={`${styles.control} ${styles.filter}`}
		aria-label={name}
		value={value ?? ''}
		onChange={(event) => onChange(event.target.value || undefined)}
	>
		{all !== undefined && <option value="">{all}</option>}
		{options.map((option) => (
			<option key={option.value} value={option.value}>
				{option.name}
			</option>
		))}
	</select>
)

const pauseMs = 250

/**
 * A day, in the zone of the reader. An empty field of the browser does not say what it is for: the label does. Tells
 * its value once the reader pauses: each key that is typed makes another day.
 */
export function DayFilter({
	name,
	value = '',
	isRequired = false,
	onChange,
}: {
	name: string
	value: string | undefined
	/** A day is always chosen. */
	isRequired?: boolean
	onChange: (value: string | undefined) => void
}) {
	const [typed, setTyped] = useState(value)
	const tell = useRef(onChange)
	tell.current = onChange
	const told = useRef(value)
	useEffect(() => {
		// A value that was told comes back later, when more may have been typed.
		if (value !== told.current) setTyped(value)
		told.current = value
	}, [value])
	useEffect(() => {
		// "0202" is on its way to "2026".
		if (typed === told.current || typed.startsWith('0')) return
		const timer = setTimeout(() => {
			told.current = typed
			tell.current(typed || undefined)
		}, pauseMs)
		return () => clearTimeout(timer)
	}, [typed])
	return (
		<label className={styles.day}>
			{name}
			<input
				type="date"
				className={`${styles.control} ${styles.filter}`}
				value={typed}
				onChange={(event) => setTyped(event.target.value)}
				onBlur={() => isRequired && typed === '' && setTyped(value)}
			/>
		</label>
	)
}
