import { createLazyRoute } from '@tanstack/react-router'
import { useState } from 'react'
import { firstContent } from '../editor/content.ts'
import { useSenders } from '../editor/content-fields.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { TemplatesLink } from './templates-link.tsx'
import { TemplateWriting } from './template-writing.tsx'

export const page = createLazyRoute('/console/$projectId/templates/new')({
	component: NewTemplatePage,
})

function NewTemplatePage() {
	const [round, setRound] = useState(0)
	const { senders, isLoading } = useSenders()
	if (isLoading)
		return (
			<Page title="New template" back={<TemplatesLink />}>
				<Waiting />
			</Page>
		)
	return (
		<TemplateWriting
			key={round}
			first={{ ...firstContent, from: senders[0] ?? '' }}
			onReload={() => setRound(round + 1)}
		/>
	)
}
