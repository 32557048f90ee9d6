import { Select } from '../../parts/field.tsx'
import { BranchesForm } from './branches-form.tsx'
import { ComparisonForm } from './comparison-form.tsx'
import type { StepFormProps } from './form-props.ts'

const forms = [
	{ value: 'one', name: 'Yes or no, by one field' },
	{ value: 'multi', name: 'Several branches, by one field' },
]

/** What each form begins with. */
const beginnings: Record<string, Record<string, unknown>> = {
	one: {},
	multi: {
		mode: 'multi',
		field: '',
		branches: [{ id: 'a', name: 'A', operator: 'equals', value: '' }],
	},
}

export function ConditionForm(props: StepFormProps) {
	const { step, onConfig } = props
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
			{form === 'multi' ? <BranchesForm {...props} /> : <ComparisonForm {...props} />}
		</>
	)
}

const formOf = (config: Record<string, unknown>) => (config['mode'] === 'multi' ? 'multi' : 'one')
