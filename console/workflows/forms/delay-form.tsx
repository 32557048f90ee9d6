import { useState } from 'react'
import { textOf } from '../../parts/text-of.ts'
import { DurationField } from './duration-field.tsx'
import type { StepFormProps } from './form-props.ts'

export function DelayForm({ step: { config }, onConfig, error }: StepFormProps) {
	const { amount } = config
	// While there is no amount, the settings are empty.
	const [chosenUnit, setUnit] = useState(textOf(config['unit']) || 'days')
	return (
		<DurationField
			label="Wait for"
			field="config.amount"
			amount={typeof amount === 'number' ? amount : undefined}
			unit={textOf(config['unit']) || chosenUnit}
			hint="At most 365 days"
			error={error}
			onChange={(next, unit) => {
				setUnit(unit)
				onConfig(next === undefined ? {} : { amount: next, unit }, 'delay')
			}}
		/>
	)
}
