import { Select } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import { FactField } from './fact-field.tsx'
import type { StepFormProps } from './form-props.ts'
import { operators, takesValue } from './operators.ts'
import { ValueField } from './value-field.tsx'

export function ComparisonForm({ step: { config }, graph, onConfig, error }: StepFormProps) {
	const operator = textOf(config['operator']) || 'equals'
	function set(changes: Record<string, unknown>, group?: string) {
		const next = { ...config, operator, ...changes }
		const { value, ...rest } = next as Record<string, unknown>
		onConfig(takesValue(rest['operator']) ? { ...rest, value: value ?? '' } : rest, group)
	}
	return (
		<>
			<FactField
				graph={graph}
				value={textOf(config['field'])}
				error={error}
				onChange={(field) => set({ field }, 'field')}
			/>
			<Select
				name="config.operator"
				label="Comparison"
				options={operators}
				value={operator}
				error={error}
				onChange={({ target }) => set({ operator: target.value })}
			/>
			{takesValue(operator) && (
				<ValueField
					name="config.value"
					label="Value"
					hint="true, false and numbers are compared as such"
					value={config['value']}
					error={error}
					onChange={(value) => set({ value }, 'value')}
				/>
			)}
		</>
	)
}
