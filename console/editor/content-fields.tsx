import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ChangeEvent, useId, useState } from 'react'
import { domainsQuery } from '../domains/domains-query.ts'
import { Select, TextField } from '../parts/field.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './content-fields.module.css'
import { type Content, typeHints, types } from './content.ts'
import type { Writing } from './writing.ts'

interface Props {
	writing: Writing<Content>
	/** Of saving or of the preview: shown at the field that it names. */
	error: unknown
}

/** All of a mail but its body. */
export function ContentFields({ writing, error }: Props) {
	const [first] = useState(() => writing.now())
	const [type, setType] = useState(first.type)
	const { senders, hint } = useSenders()
	const list = useId()
	const text = (name: 'name' | 'subject' | 'from') => ({
		name,
		error,
		defaultValue: first[name],
		onChange: ({ target }: ChangeEvent<HTMLInputElement>) =>
			writing.change({ [name]: target.value.trim() }),
	})
	const optional = (name: 'description' | 'fromName' | 'replyTo' | 'language') => ({
		name,
		error,
		defaultValue: first[name] ?? '',
		onChange: ({ target }: ChangeEvent<HTMLInputElement>) =>
			writing.change({ [name]: target.value.trim() || null }),
	})
	return (
		<div className={styles.fields}>
			<TextField label="Name" {...text('name')} hint="Readers do not see it" />
			<TextField label="Subject" {...text('subject')} />
			<Select
				name="type"
				label="Type"
				options={types}
				error={error}
				defaultValue={first.type}
				hint={typeHints[type]}
				onChange={({ target }) => {
					const chosen = types.find(({ value }) => value === target.value)!.value
					setType(chosen)
					writing.change({ type: chosen })
				}}
			/>
			<TextField label="From" type="email" list={list} {...text('from')} hint={hint} />
			<TextField label="Name of the sender" {...optional('fromName')} />
			<TextField label="Replies go to" type="email" {...optional('replyTo')} />
			<TextField label="Language" {...optional('language')} hint="en, de-AT, …" />
			<TextField label="Note" {...optional('description')} hint="Readers do not see it" />
			<datalist id={list}>
				{senders.map((sender) => (
					<option key={sender} value={sender} />
				))}
			</datalist>
		</div>
	)
}

/** Mail leaves only from addresses of verified domains. */
export function useSenders() {
	const current = useProject()
	const { data, isLoading } = useQuery(domainsQuery(current))
	const verified = (data ?? []).filter(({ verified }) => verified).map(({ domain }) => domain)
	const hint =
		data && verified.length === 0 ? (
			<>
				Mail leaves only from a verified domain.{' '}
				<Link to="/console/$projectId/domains" params={{ projectId: current.project.id }}>
					Verify yours
				</Link>
			</>
		) : verified.length > 0 ? (
			`An address at ${verified.slice(0, 3).join(', ')}`
		) : undefined
	return { senders: verified.map((domain) => `hello@${domain}`), hint, isLoading }
}
