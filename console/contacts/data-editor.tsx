import { useQuery } from '@tanstack/react-query'
import { Plus, X } from 'lucide-react'
import { useId, useState } from 'react'
import { TempostError } from '../../client/index.ts'
import { Button, IconButton } from '../parts/button.tsx'
import field from '../parts/field.module.css'
import { useProject } from '../shell/projects.ts'
import styles from './data-editor.module.css'
import { type DataRow, dataTypes, faultOf, textFor } from './data-rows.ts'
import { fieldsQuery } from './fields-query.ts'

interface Props {
	rows: DataRow[]
	onChange: (rows: DataRow[]) => void
	error: unknown
}

/** Fields of data with their types. */
export function DataEditor({ rows, onChange, error }: Props) {
	const keys = useId()
	const known = useKnownKeys()
	const add = () =>
		onChange([
			...rows,
			{ id: Math.max(-1, ...rows.map(({ id }) => id)) + 1, key: '', type: 'text', text: '' },
		])
	return (
		<div className={styles.rows} role="group" aria-label="Data">
			<h3>Data</h3>
			{rows.map((row) => (
				<Row
					key={row.id}
					row={row}
					keys={keys}
					error={error}
					onChange={(changed) => onChange(rows.map((one) => (one.id === row.id ? changed : one)))}
					onRemove={() => onChange(rows.filter(({ id }) => id !== row.id))}
				/>
			))}
			<datalist id={keys}>
				{known.map((key) => (
					<option key={key} value={key} />
				))}
			</datalist>
			<div>
				<Button kind="quiet" icon={<Plus size={15} aria-hidden />} onClick={add}>
					Add a field
				</Button>
			</div>
		</div>
	)
}

const mostSuggested = 200
const linesShown = 3

function useKnownKeys() {
	const { data } = useQuery(fieldsQuery(useProject()))
	return (data?.fields ?? [])
		.filter(({ field: name }) => name.startsWith('data.'))
		.map(({ field: name }) => name.slice('data.'.length))
		.slice(0, mostSuggested)
}

interface RowProps {
	row: DataRow
	keys: string
	error: unknown
	onChange: (row: DataRow) => void
	onRemove: () => void
}

function Row({ row, keys, error, onChange, onRemove }: RowProps) {
	// In an input its lines would become one. It stays what it is while it is edited.
	const [hasLines] = useState(() => /[\n\r]/.test(row.text))
	const fault = faultOf(row) ?? faultFrom(error, row.key)
	const common = { className: field.control, 'aria-invalid': fault !== undefined }
	return (
		<div className={styles.row} role="group" aria-label={row.key || 'New field'}>
			<input
				{...common}
				aria-label="Field"
				placeholder="Field"
				list={keys}
				value={row.key}
				onChange={({ target }) => onChange({ ...row, key: target.value })}
			/>
			<select
				className={field.control}
				aria-label="Type"
				value={row.type}
				onChange={({ target }) => {
					const type = dataTypes.find(({ value }) => value === target.value)?.value ?? 'text'
					onChange({ ...row, type, text: textFor(type, row.text) })
				}}
			>
				{dataTypes.map(({ value, name }) => (
					<option key={value} value={value}>
						{name}
					</option>
				))}
			</select>
			{row.type === 'flag' ? (
				<select
					{...common}
					aria-label="Value"
					value={row.text}
					onChange={({ target }) => onChange({ ...row, text: target.value })}
				>
					<option value="true">yes</option>
					<option value="false">no</option>
				</select>
			) : hasLines ? (
				<textarea
					{...common}
					aria-label="Value"
					rows={linesShown}
					value={row.text}
					onChange={({ target }) => onChange({ ...row, text: target.value })}
				/>
			) : (
				<input
					{...common}
					aria-label="Value"
					inputMode={row.type === 'number' ? 'decimal' : 'text'}
					value={row.text}
					onChange={({ target }) => onChange({ ...row, text: target.value })}
				/>
			)}
			<IconButton
				name={row.key ? `Remove ${row.key}` : 'Remove the new field'}
				icon={<X size={15} />}
				onClick={onRemove}
			/>
			{fault && <p className={styles.fault}>{fault}</p>}
		</div>
	)
}

function faultFrom(error: unknown, key: string) {
	if (!(error instanceof TempostError)) return undefined
	return error.fields.find((one) => one.field === `data.${key}`)?.message
}
