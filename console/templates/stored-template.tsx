import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { TemplatesLink } from './templates-link.tsx'
import { TemplateWriting } from './template-writing.tsx'

export function StoredTemplate({ templateId }: { templateId: string }) {
	const { project, api } = useProject()
	const [round, setRound] = useState(0)
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'templates', 'one', templateId],
		queryFn: () => api.templates.get(templateId),
		// Its writer begins with what is stored now, and is not interrupted later.
		staleTime: Infinity,
		gcTime: 0,
	})
	if (!data)
		return (
			<Page title="Template" back={<TemplatesLink />}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return (
		<TemplateWriting
			key={round}
			template={data}
			onReload={() => void refetch().then(() => setRound(round + 1))}
		/>
	)
}
