import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../parts/button.tsx'
import { Select, TextField } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import styles from '../editor.module.css'
import { type NamedBranch, namedBranches } from '../graph.ts'
import { FactField } from './fact-field.tsx'
import type { StepFormProps } from './form-props.ts'
import { operators, takesValue } from './operators.ts'
import { ValueField } from './value-field.tsx'

const most = 20

/** The first branch that matches is taken, and "otherwise" if none does. */
export function BranchesForm({ step: { config }, graph, onConfig, error }: StepFormProps) {
	const branches = namedBranches(config)
	const set = (changes: Record<string, unknown>, group?: string) =>
		onConfig({ ...config, ...changes }, group)
	const change = (id: string, changes: Partial<NamedBranch>, group?: string) =>
		set(
			{
				branches: branches.map((one) =>
					one.id === id ? withOrWithoutValue({ ...one, ...changes }) : one,
				),
			},
			group && `${id} ${group}`,
		)
	return (
		<>
			<FactField
				graph={graph}
				value={textOf(config['field'])}
				error={error}
				onChange={(field) => set({ field }, 'field')}
			/>
			{branches.map((branch, index) => (
				<BranchFields
					key={branch.id}
					branch={branch}
					index={index}
					error={error}
					onChange={(changes, group) => change(branch.id, changes, group)}
					onRemove={
						branches.length > 1
							? () => set({ branches: branches.filter(({ id }) => id !== branch.id) })
							: undefined
					}
				/>
			))}
			<p className={styles.soft}>The first branch that matches is taken, else “otherwise”.</p>
			{branches.length < most && (
				<div>
					<Button
						icon={<Plus size={15} />}
						onClick={() => set({ branches: [...branches, newBranch(branches)] })}
					>
						Add a branch
					</Button>
				</div>
			)}
		</>
	)
}

interface Props {
	branch: NamedBranch
	index: number
	error: unknown
	onChange: (changes: Partial<NamedBranch>, group?: string) => void
	onRemove: (() => void) | undefined
}

function BranchFields({ branch, index, error, onChange, onRemove }: Props) {
	const at = `config.branches.${index}`
	return (
		<fieldset className={styles.fields} aria-label={`Branch ${branch.name}`}>
			<div className={styles.pair}>
				<TextField
					name={`${at}.name`}
					label="Branch"
					value={branch.name}
					error={error}
					onChange={({ target }) => onChange({ name: target.value }, 'name')}
				/>
				<Select
					name={`${at}.operator`}
					label="If the field"
					options={operators}
					value={branch.operator}
					error={error}
					onChange={({ target }) => onChange({ operator: target.value })}
				/>
				{onRemove && (
					<IconButton
						name={`Remove the branch ${branch.name}`}
						icon={<X size={15} />}
						onClick={onRemove}
					/>
				)}
			</div>
			{takesValue(branch.operator) && (
				<ValueField
					name={`${at}.value`}
					label={`Value of ${branch.name}`}
					value={branch.value}
					error={error}
					onChange={(value) => onChange({ value }, 'value')}
				/>
			)}
		</fieldset>
	)
}

function withOrWithoutValue({ value, ...branch }: NamedBranch): NamedBranch {
	return takesValue(branch.operator) ? { ...branch, value: value ?? '' } : branch
}

/** Its id never changes, so that transitions keep it when it is renamed. */
function newBranch(branches: NamedBranch[]): NamedBranch {
	const ids = new Set(branches.map(({ id }) => id))
	const id =
		'abcdefghijklmnopqrstuvwxyz'.split('').find((letter) => !ids.has(letter)) ??
		`branch ${branches.length + 1}`
	return { id, name: id.toUpperCase(), operator: 'equals', value: '' }
}
