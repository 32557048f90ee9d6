import { useState } from 'react'
import { Checkbox, Select, TextField } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import { durationOf, secondsOf } from '../durations.ts'
import { recordOf } from '../step-words.ts'
import { DurationField } from './duration-field.tsx'
import { type Read, type StepFormProps, unfinishedAfter, withoutEmpty } from './form-props.ts'
import { HeadersField } from './headers-field.tsx'
import { JsonField } from './json-field.tsx'

const methods = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, name: value }))

export function WebhookForm({ step, onConfig, error }: StepFormProps) {
	const { config, unfinished } = step
	const { retryFor } = config
	const seconds = typeof retryFor === 'number' ? retryFor : 3600
	const [unit, setUnit] = useState<string>(durationOf(seconds).unit)
	const set = (changes: Record<string, unknown>, group?: string) =>
		onConfig(withoutEmpty({ ...config, ...changes }), group)
	/** Sets what was read, and keeps the text that can't be read yet. */
	const setRead = (name: string, read: Read) =>
		onConfig(
			withoutEmpty('message' in read ? config : { ...config, [name]: read.value }),
			name,
			unfinishedAfter(step, `config.${name}`, read),
		)
	const method = textOf(config['method']) || 'POST'
	const hasBody = method !== 'GET' || config['body'] !== undefined || unfinished?.['config.body']
	return (
		<>
			<TextField
				name="config.url"
				label="URL"
				type="url"
				placeholder="https://"
				hint="A Liquid template. Only public addresses are called"
				value={textOf(config['url'])}
				error={error}
				onChange={({ target }) => set({ url: target.value }, 'url')}
			/>
			<Select
				name="config.method"
				label="Method"
				options={methods}
				value={method}
				onChange={({ target }) => set({ method: target.value })}
			/>
			<HeadersField
				headers={recordOf(config['headers'])}
				unfinished={unfinished?.['config.headers']}
				error={error}
				onChange={(read) => setRead('headers', read)}
			/>
			{hasBody && (
				<JsonField
					field="config.body"
					label="Body"
					value={config['body']}
					unfinished={unfinished?.['config.body']}
					hint="JSON; strings in it are Liquid templates. Empty: the contact, workflow, execution and event are sent"
					error={error}
					onChange={(read) => setRead('body', read)}
				/>
			)}
			<DurationField
				label="Repeat failed calls for"
				field="config.retryFor"
				amount={seconds / secondsOf(1, unit)}
				unit={unit}
				hint="At most 7 days"
				error={error}
				onChange={(amount, chosen) => {
					setUnit(chosen)
					if (amount !== undefined) set({ retryFor: secondsOf(amount, chosen) }, 'retryFor')
				}}
			/>
			<Checkbox
				label="Go on if all calls fail"
				hint="Otherwise the execution fails here"
				checked={config['continueOnError'] === true}
				onChange={({ target }) => set({ continueOnError: target.checked || undefined })}
			/>
		</>
	)
}
