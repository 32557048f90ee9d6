import { useState } from 'react'
import { Checkbox, Select, TextArea, TextField } from '../../parts/field.tsx'
import { durationOf, secondsOf } from '../durations.ts'
import { recordOf } from '../step-words.ts'
import { DurationField } from './duration-field.tsx'
import { type StepFormProps, textOf, withoutEmpty } from './form-props.ts'
import { JsonField } from './json-field.tsx'

const methods = ['POST', 'GET', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value, name: value }))

export function WebhookForm({ step: { config }, onConfig, error }: StepFormProps) {
	const { retryFor } = config
	const seconds = typeof retryFor === 'number' ? retryFor : 3600
	const [unit, setUnit] = useState<string>(durationOf(seconds).unit)
	const set = (changes: Record<string, unknown>, group?: string) =>
		onConfig(withoutEmpty({ ...config, ...changes }), group)
	const method = textOf(config['method']) || 'POST'
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
				error={error}
				onChange={(headers) => set({ headers }, 'headers')}
			/>
			{method !== 'GET' && (
				<JsonField
					field="config.body"
					label="Body"
					value={config['body']}
					hint="JSON; strings in it are Liquid templates. Empty: the contact, workflow, execution and event are sent"
					error={error}
					onChange={(body) => set({ body }, 'body')}
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

interface HeadersProps {
	headers: Record<string, unknown>
	error: unknown
	onChange: (headers: Record<string, string> | undefined) => void
}

/** One per line, as they are sent. */
function HeadersField({ headers, error, onChange }: HeadersProps) {
	const [typed, setTyped] = useState(() =>
		Object.entries(headers)
			.map(([name, value]) => `${name}: ${textOf(value)}`)
			.join('\n'),
	)
	return (
		<TextArea
			name="config.headers"
			label="Headers"
			rows={2}
			hint="One per line, such as X-Source: {{ event.name }}"
			value={typed}
			error={error}
			onChange={({ target }) => {
				setTyped(target.value)
				const lines = target.value.split('\n').filter((line) => line.includes(':'))
				const pairs = lines.map((line): [string, string] => {
					const colon = line.indexOf(':')
					return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
				})
				const named = pairs.filter(([name]) => name !== '')
				onChange(named.length > 0 ? Object.fromEntries(named) : undefined)
			}}
		/>
	)
}
