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

/** A day, in the zone of the reader. An empty field of the browser does not say what it is for: the label does. */
export const DayFilter = ({
	name,
	value,
	onChange,
}: {
	name: string
	value: string | undefined
	onChange: (value: string | undefined) => void
}) => (
	<label className={styles.day}>
		{name}
		<input
			type="date"
			className={`${styles.control} ${styles.filter}`}
			value={value ?? ''}
			onChange={(event) => onChange(event.target.value || undefined)}
		/>
	</label>
)
