import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Fault } from '../../parts/fault.tsx'
import { Select, TextField } from '../../parts/field.tsx'
import { SearchBox } from '../../parts/search-box.tsx'
import { textOf } from '../../parts/text-of.ts'
import { useProject } from '../../shell/projects.ts'
import { recordOf } from '../step-words.ts'
import type { StepFormProps } from './form-props.ts'

const pageSize = 50
const recipients = [
	{ value: 'CONTACT', name: 'The contact' },
	{ value: 'CUSTOM', name: 'Another address' },
]

export function MailForm({ step, onConfig, onTemplate, error }: StepFormProps) {
	const { type, customEmail } = recordOf(step.config['recipient'])
	const isCustom = type === 'CUSTOM'
	return (
		<>
			<TemplateField templateId={step.templateId} onTemplate={onTemplate} error={error} />
			<Select
				name="recipient"
				label="To"
				options={recipients}
				value={isCustom ? 'CUSTOM' : 'CONTACT'}
				onChange={({ target }) =>
					onConfig(
						target.value === 'CUSTOM' ? { recipient: { type: 'CUSTOM', customEmail: '' } } : {},
					)
				}
			/>
			{isCustom && (
				<TextField
					name="config.recipient.customEmail"
					label="Address"
					hint="An address, or a Liquid template of one such as {{ seller }}"
					value={textOf(customEmail)}
					error={error}
					onChange={({ target }) =>
						onConfig({ recipient: { type: 'CUSTOM', customEmail: target.value } }, 'customEmail')
					}
				/>
			)}
		</>
	)
}

interface TemplateProps {
	templateId: string | null
	onTemplate: (templateId: string | null) => void
	error: unknown
}

function TemplateField({ templateId, onTemplate, error }: TemplateProps) {
	const { project, api } = useProject()
	const [search, setSearch] = useState('')
	const { data, error: fault } = useQuery({
		queryKey: [project.id, 'templates', 'choice', search],
		queryFn: () =>
			api.templates.list({ pageSize, sort: 'name', dir: 'asc', search: search || undefined }),
		staleTime: 10_000,
		placeholderData: (previous) => previous,
	})
	const chosen = useQuery({
		queryKey: [project.id, 'templates', 'name', templateId],
		queryFn: () => api.templates.get(templateId!).then(({ name }) => [templateId!, name] as const),
		enabled: templateId !== null,
		staleTime: 60_000,
	}).data
	const options = (data?.data ?? []).map(({ id, name }) => ({ value: id, name }))
	const isListed = options.some(({ value }) => value === templateId)
	return (
		<>
			<Fault error={fault} />
			{(search !== '' || (data?.totalPages ?? 1) > 1) && (
				<SearchBox name="Find a template" value={search} onChange={setSearch} />
			)}
			<Select
				name="templateId"
				label="Template"
				options={[
					{ value: '', name: 'Choose a template' },
					...(templateId && !isListed
						? [{ value: templateId, name: chosen?.[1] ?? 'The present template' }]
						: []),
					...options,
				]}
				value={templateId ?? ''}
				error={error}
				hint={
					data?.total === 0 && search === '' ? (
						<Link to={`/console/${project.id}/templates` as '/'}>Write a template first</Link>
					) : undefined
				}
				onChange={({ target }) => onTemplate(target.value || null)}
			/>
		</>
	)
}
