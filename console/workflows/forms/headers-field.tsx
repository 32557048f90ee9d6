import { useState } from 'react'
import { TextArea } from '../../parts/field.tsx'
import { textOf } from '../../parts/text-of.ts'
import type { Unfinished } from '../graph.ts'
import type { Read } from './form-props.ts'

interface Props {
	headers: Record<string, unknown>
	unfinished: Unfinished | undefined
	error: unknown
	onChange: (read: Read) => void
}

/** One per line, as they are sent. */
export function HeadersField({ headers, unfinished, error, onChange }: Props) {
	const [typed, setTyped] = useState(() => unfinished?.text ?? textOfHeaders(headers))
	const [isTyping, setTyping] = useState(false)
	return (
		<TextArea
			name="config.headers"
			label="Headers"
			rows={2}
			hint="One per line, such as X-Source: {{ event.name }}"
			value={typed}
			// Each line has no colon at first.
			error={isTyping ? undefined : error}
			onFocus={() => setTyping(true)}
			onBlur={() => setTyping(false)}
			onChange={({ target }) => {
				setTyped(target.value)
				onChange(readHeaders(target.value))
			}}
		/>
	)
}

const textOfHeaders = (headers: Record<string, unknown>) =>
	Object.entries(headers)
		.map(([name, value]) => `${name}: ${textOf(value)}`)
		.join('\n')

function readHeaders(text: string): Read {
	const pairs = text
		.split('\n')
		.filter((line) => line.trim() !== '')
		.map((line): [name: string, value: string] => {
			const colon = line.indexOf(':')
			return [line.slice(0, Math.max(colon, 0)).trim(), line.slice(colon + 1).trim()]
		})
	if (pairs.some(([name]) => name === ''))
		return { text, message: 'need a name and a colon in each line' }
	return { value: pairs.length > 0 ? Object.fromEntries(pairs) : undefined }
}
