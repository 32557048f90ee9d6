import { firstContent } from '../editor/content.ts'
import { useSenders } from '../editor/content-fields.tsx'
import { Page } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { TemplatesLink } from './templates-link.tsx'
import { TemplateWriting } from './template-writing.tsx'

interface Props {
	/** It is stored for the first time. */
	onMade: (templateId: string) => void
	onReload: () => void
}

export function NewTemplate(props: Props) {
	const { senders, isLoading } = useSenders()
	if (isLoading)
		return (
			<Page title="New template" back={<TemplatesLink />}>
				<Waiting />
			</Page>
		)
	return <TemplateWriting first={{ ...firstContent, from: senders[0] ?? '' }} {...props} />
}
