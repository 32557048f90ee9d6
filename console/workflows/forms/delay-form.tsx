import { DurationField } from './duration-field.tsx'
import { type StepFormProps, textOf } from './form-props.ts'

export function DelayForm({ step: { config }, onConfig, error }: StepFormProps) {
	const amount = config['amount']
	return (
		<DurationField
			label="Wait for"
			field="config.amount"
			amount={typeof amount === 'number' ? amount : undefined}
			unit={textOf(config['unit']) || 'days'}
			hint="At most 365 days"
			error={error}
			onChange={(next, unit) => onConfig(next === undefined ? {} : { amount: next, unit }, 'delay')}
		/>
	)
}
