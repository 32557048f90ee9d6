import field from '../parts/field.module.css'
import type { CsvHead } from './csv-head.ts'
import { fieldOf, leftOut, type Target } from './import-targets.ts'
import styles from './import.module.css'

interface Props {
	head: CsvHead
	targets: Target[]
	onChange: (targets: Target[]) => void
}

const choices = [
	{ kind: 'data', name: 'Field of the data' },
	{ kind: 'email', name: 'Email address' },
	{ kind: 'subscribed', name: 'Subscribed' },
	{ kind: 'none', name: 'Leave out' },
] as const

/** Each column with its first values, and what it becomes. */
export function ImportColumns({ head, targets, onChange }: Props) {
	const set = (at: number, target: Target) =>
		onChange(targets.map((one, index) => (index === at ? target : one)))
	return (
		<div role="list" aria-label="Columns" className={styles.columns}>
			{head.names.map((name, at) => (
				<ColumnOf
					key={at}
					name={name}
					values={head.rows.map((cells) => cells[at]?.trim() ?? '')}
					target={targets[at] ?? leftOut}
					onChange={(target) => set(at, target)}
				/>
			))}
		</div>
	)
}

interface ColumnProps {
	name: string
	values: string[]
	target: Target
	onChange: (target: Target) => void
}

function ColumnOf({ name, values, target, onChange }: ColumnProps) {
	function choose(kind: string) {
		if (kind === 'data') return onChange(fieldOf(name))
		if (kind === 'email' || kind === 'subscribed') return onChange({ kind, name: kind })
		onChange(leftOut)
	}
	const shown = name || 'Column without a name'
	return (
		<div role="listitem" className={styles.column} data-left-out={target.kind === 'none'}>
			<div className={styles.header}>
				<strong>{shown}</strong>
				<span className={styles.values}>{values.filter(Boolean).join(' · ') || '(empty)'}</span>
			</div>
			<span aria-hidden>→</span>
			<div className={styles.target}>
				<select
					className={field.control}
					aria-label={`${shown} becomes`}
					value={target.kind}
					onChange={(event) => choose(event.target.value)}
				>
					{choices.map((choice) => (
						<option key={choice.kind} value={choice.kind}>
							{choice.name}
						</option>
					))}
				</select>
				{target.kind === 'data' && (
					<input
						className={field.control}
						aria-label={`Field for ${shown}`}
						value={target.name}
						onChange={(event) => onChange(fieldOf(event.target.value))}
					/>
				)}
			</div>
		</div>
	)
}
