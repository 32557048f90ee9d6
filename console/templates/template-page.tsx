import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { NewTemplate } from './new-template.tsx'
import { StoredTemplate } from './stored-template.tsx'

export const page = createLazyRoute('/console/$projectId/templates/$templateId')({
	component: TemplatePage,
})
const route = getRouteApi('/console/$projectId/templates/$templateId')

/** One page for both, so that a new template gets its address while its writer types on. */
function TemplatePage() {
	const { templateId } = route.useParams()
	const [round, setRound] = useState(0)
	/** The template that was new when this page was opened. */
	const [made, setMade] = useState<string>()
	const isMade = templateId === made
	const begin = () => {
		setMade(undefined)
		setRound((last) => last + 1)
	}
	// Once its page is left, another new one begins empty.
	useEffect(() => (isMade ? begin : undefined), [isMade])
	if (isMade || templateId === 'new')
		return <NewTemplate key={round} onMade={setMade} onReload={begin} />
	return <StoredTemplate key={templateId} templateId={templateId} />
}
