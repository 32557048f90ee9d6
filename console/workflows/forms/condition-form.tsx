import type { Condition } from '../../../client/index.ts'
import { ConditionBuilder } from '../../conditions/condition-builder.tsx'
import { Select } from '../../parts/field.tsx'
import { BranchesForm } from './branches-form.tsx'
import { ComparisonForm } from './comparison-form.tsx'
import type { StepFormProps } from './form-props.ts'

const forms = [
	{ value: 'tree', name: 'Yes or no, by anything about the contact' },
	{ value: 'one', name: 'Yes or no, by one field of the contact, the event or a step' },
	{ value: 'multi', name: 'Several branches, by one field' },
]

/** What each form begins with. */
const beginnings: Record<string, Record<string, unknown>> = {
	tree: {},
	one: { field: '', operator: 'equals', value: '' },
	multi: {
		mode: 'multi',
		field: '',
		branches: [{ id: 'a', name: 'A', operator: 'equals', value: '' }],
	},
}

export function ConditionForm(props: StepFormProps) {
	const { step, onConfig, error } = props
	const form = formOf(step.config)
	return (
		<>
			<Select
				name="form"
				label="Decides"
				options={forms}
				value={form}
				onChange={({ target }) => onConfig(beginnings[target.value] ?? {})}
			/>
			{form === 'multi' ? (
				<BranchesForm {...props} />
			) : form === 'tree' ? (
				<ConditionBuilder
					value={isTree(step.config) ? step.config : undefined}
					onChange={(condition) => onConfig({ ...condition }, 'condition')}
					error={error}
					path="config"
				/>
			) : (
				<ComparisonForm {...props} />
			)}
		</>
	)
}

const formOf = (config: Record<string, unknown>) =>
	config['mode'] === 'multi' ? 'multi' : 'field' in config ? 'one' : 'tree'

/** Also one that is still being built: its filters are checked by the API. */
const isTree = (config: Record<string, unknown>): config is Record<string, unknown> & Condition =>
	Array.isArray(config['groups'])
