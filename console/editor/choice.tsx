import styles from './choice.module.css'

interface Props<Value extends string> {
	/** Said to screen readers. */
	name: string
	value: Value
	options: readonly { value: Value; name: string }[]
	onChange: (value: Value) => void
}

/** One of a few, all of them in view. */
export const Choice = <Value extends string>({ name, value, options, onChange }: Props<Value>) => (
	<fieldset className={styles.choice}>
		<legend className="unseen">{name}</legend>
		{options.map((option) => (
			<label key={option.value}>
				<input
					type="radio"
					className="unseen"
					name={name}
					checked={option.value === value}
					onChange={() => onChange(option.value)}
				/>
				<span>{option.name}</span>
			</label>
		))}
	</fieldset>
)
