import { Checkbox, Select } from '../../parts/field.tsx'
import { durationOf, secondsOf } from '../durations.ts'
import { DurationField } from './duration-field.tsx'
import { EventNameField } from './event-name-field.tsx'
import { type StepFormProps, withoutEmpty } from './form-props.ts'
import { useState } from 'react'
import { textOf } from '../../parts/text-of.ts'

const sinces = [
	{ value: 'step', name: 'Events since the mail, delay, wait or call before' },
	{ value: 'start', name: 'Events since the workflow began' },
]

export function WaitForm({ step: { config }, onConfig, error }: StepFormProps) {
	const { timeout } = config
	const seconds = typeof timeout === 'number' ? timeout : undefined
	const [chosenUnit, setUnit] = useState(seconds === undefined ? 'days' : durationOf(seconds).unit)
	const set = (changes: Record<string, unknown>, group?: string) =>
		onConfig(withoutEmpty({ ...config, ...changes }), group)
	const perUnit = secondsOf(1, chosenUnit)
	return (
		<>
			<EventNameField
				label="Event"
				field="config.eventName"
				value={textOf(config['eventName'])}
				hint="The name that your application tracks"
				error={error}
				onChange={(eventName) => set({ eventName }, 'eventName')}
			/>
			<Checkbox
				label="Stop waiting after a time"
				hint="Then the branch “time-out” is taken"
				checked={seconds !== undefined}
				onChange={({ target }) => set({ timeout: target.checked ? 3 * 86_400 : undefined })}
			/>
			{seconds !== undefined && (
				<DurationField
					label="Wait at most"
					field="config.timeout"
					amount={seconds / perUnit}
					unit={chosenUnit}
					error={error}
					onChange={(amount, unit) => {
						setUnit(unit as typeof chosenUnit)
						if (amount !== undefined) set({ timeout: secondsOf(amount, unit) }, 'timeout')
					}}
				/>
			)}
			<Select
				name="config.since"
				label="Counts"
				options={sinces}
				value={textOf(config['since']) || 'step'}
				onChange={({ target }) =>
					set({ since: target.value === 'step' ? undefined : target.value })
				}
			/>
		</>
	)
}
