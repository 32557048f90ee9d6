import { useQuery } from '@tanstack/react-query'
import { type InputHTMLAttributes, useId, useState } from 'react'
import field from '../parts/field.module.css'
import { textOf } from '../parts/text-of.ts'
import { useProject } from '../shell/projects.ts'
import styles from './conditions.module.css'
import type { Kind } from './value-kinds.ts'

interface Props {
	kind: Kind
	value: unknown
	onChange: (value: unknown) => void
	isInvalid: boolean
	/** A field of data whose values are suggested. */
	suggestsFor?: string | undefined
}

/** One value, by its kind. An empty one is undefined. */
export function ValueInput({ kind, value, onChange, isInvalid, suggestsFor }: Props) {
	const common = { 'aria-label': 'Value', 'aria-invalid': isInvalid, className: field.control }
	switch (kind) {
		case 'nothing':
			return null
		case 'flag':
			return (
				<select
					{...common}
					value={typeof value === 'boolean' ? String(value) : ''}
					onChange={(e) => onChange(e.target.value === 'true')}
				>
					{typeof value !== 'boolean' && <option value="">choose …</option>}
					<option value="true">yes</option>
					<option value="false">no</option>
				</select>
			)
		case 'number':
			return (
				<input
					{...common}
					type="number"
					step="any"
					data-size="number"
					value={typeof value === 'number' ? value : ''}
					onChange={({ target }) =>
						onChange(Number.isNaN(target.valueAsNumber) ? undefined : target.valueAsNumber)
					}
				/>
			)
		case 'day':
			return (
				<input
					{...common}
					type="date"
					title="The whole day, in UTC"
					value={textOf(value)}
					onChange={({ target }) => onChange(target.value || undefined)}
				/>
			)
		case 'moment':
			return (
				<input
					{...common}
					type="datetime-local"
					title="In your time zone"
					value={localTime(value)}
					onChange={({ target }) => onChange(target.value && isoTime(target.value))}
				/>
			)
		case 'json':
			return <JsonInput {...common} value={value} onChange={onChange} />
		case 'text':
			return (
				<Suggesting
					{...common}
					of={suggestsFor}
					value={textOf(value)}
					onChange={({ target }) => onChange(target.value)}
				/>
			)
	}
}

type InputProps = InputHTMLAttributes<HTMLInputElement>

/** Values that contacts have in this field are suggested. */
function Suggesting({ of, ...rest }: InputProps & { of: string | undefined }) {
	const { project, api } = useProject()
	const id = useId()
	const { data } = useQuery({
		queryKey: [project.id, 'contacts', 'fields', of],
		queryFn: () => api.contacts.listFieldValues(of ?? ''),
		enabled: of !== undefined,
		staleTime: 60_000,
	})
	const texts = data?.values.filter((value) => typeof value === 'string') ?? []
	return (
		<>
			<input {...rest} type="text" autoComplete="off" list={id} />
			<datalist id={id}>
				{texts.map((text) => (
					<option key={text} value={text} />
				))}
			</datalist>
		</>
	)
}

function JsonInput({
	value,
	onChange,
	...rest
}: Omit<InputProps, 'onChange' | 'value'> & Pick<Props, 'value' | 'onChange'>) {
	const [typed, setTyped] = useState('')
	const isOwn = same(parsed(typed), value)
	const text = isOwn ? typed : value === undefined ? typed : JSON.stringify(value)
	return (
		<input
			{...rest}
			type="text"
			autoComplete="off"
			className={`${field.control} ${styles.json}`}
			placeholder='["a", "b"]'
			value={text}
			onChange={({ target }) => {
				setTyped(target.value)
				onChange(parsed(target.value))
			}}
		/>
	)
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text)
	} catch {
		return undefined
	}
}
const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const isoTime = (local: string) => new Date(local).toISOString()

/** A moment as the browser's field for times takes it: in the reader's zone, without one. */
function localTime(at: unknown) {
	const date = new Date(textOf(at))
	if (Number.isNaN(date.getTime())) return ''
	return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
