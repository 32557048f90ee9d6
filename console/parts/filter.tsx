import styles from './field.module.css'

interface Props {
	name: string
	value: string | undefined
	options: readonly { value: string; name: string }[]
	/** The choice that filters nothing. */
	all: string
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
		<option value="">{all}</option>
		{options.map((option) => (
			<option key={option.value} value={option.value}>
				{option.name}
			</option>
		))}
	</select>
)
