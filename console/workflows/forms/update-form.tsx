import { Plus, X } from 'lucide-react'
import { useState } from 'react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Select, TextField } from '../../parts/field.tsx'
import styles from '../editor.module.css'
import { recordOf } from '../step-words.ts'
import { type StepFormProps, withoutEmpty } from './form-props.ts'
import { asTyped, typedValue } from './typed-value.ts'

const subscriptions = [
	{ value: '', name: 'Leave as it is' },
	{ value: 'true', name: 'Subscribe' },
	{ value: 'false', name: 'Unsubscribe' },
]

export function UpdateForm({ step: { config }, onConfig, error }: StepFormProps) {
	const { subscribed } = config
	const [rows, setRows] = useState(() => Object.entries(recordOf(config['data'])).map(rowOf))
	const set = (changes: Record<string, unknown>, group?: string) =>
		onConfig(withoutEmpty({ ...config, ...changes }), group)
	function change(next: DataRow[]) {
		setRows(next)
		const named = next.filter(({ name }) => name.trim() !== '')
		const data = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]))
		set({ data: named.length > 0 ? data : undefined }, 'data')
	}
	const at = (index: number, changes: Partial<DataRow>) =>
		change(rows.map((row, one) => (one === index ? { ...row, ...changes } : row)))
	return (
		<>
			{rows.map(({ name, typed }, index) => (
				// Rows are told apart by their place: their names are being typed.
				<div className={styles.pair} key={index}>
					<TextField
						name={`name ${index}`}
						label="Field"
						value={name}
						onChange={({ target }) => at(index, { name: target.value })}
					/>
					<TextField
						name={`value ${index}`}
						label="Value"
						field={`config.data.${name}`}
						error={error}
						value={typed}
						onChange={({ target: { value } }) =>
							at(index, { typed: value, value: typedValue(value) })
						}
					/>
					<IconButton
						name={`Remove the field ${name}`}
						icon={<X size={15} />}
						onClick={() => change(rows.filter((_, one) => one !== index))}
					/>
				</div>
			))}
			<div>
				<Button icon={<Plus size={15} />} onClick={() => setRows([...rows, rowOf(['', ''])])}>
					Add a field
				</Button>
			</div>
			<p className={styles.soft}>
				Texts are Liquid templates. true, false and numbers are stored as such, and null removes the
				field.
			</p>
			<Select
				name="config.subscribed"
				label="Subscription"
				options={subscriptions}
				value={typeof subscribed === 'boolean' ? String(subscribed) : ''}
				error={error}
				onChange={({ target }) =>
					set({ subscribed: target.value === '' ? undefined : target.value === 'true' })
				}
			/>
		</>
	)
}

interface DataRow {
	name: string
	typed: string
	/** The text `12` and the number 12 look the same, so the type is kept until the value is typed anew. */
	value: unknown
}

const rowOf = ([name, value]: [string, unknown]): DataRow => ({
	name,
	typed: asTyped(value),
	value,
})
