import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { TempostError, type TemplatePreview } from '../../client/index.ts'
import { useProject } from '../shell/projects.ts'
import type { SyntaxFault } from './code-marks.ts'
import type { Content } from './content.ts'
import type { Person } from './person.ts'
import { usePaused, type Writing } from './writing.ts'

/** The mail at the last pause of its writer. While it can't be rendered, the last good one stays. */
export function usePreview(writing: Writing<Content>, { contact, data }: Person) {
	const { project, api } = useProject()
	const { subject, body, type, language } = usePaused(writing)
	const contactId = contact?.id
	const { data: answer, error } = useQuery({
		queryKey: [project.id, 'preview', writing.opening, writing.pauses, contactId, data],
		queryFn: ({ signal }) =>
			api.templates.previewContent({ subject, body, type, language, contactId, data }, { signal }),
		staleTime: Infinity,
		gcTime: 10_000,
	})
	const [good, setGood] = useState<TemplatePreview>()
	useEffect(() => {
		if (answer) setGood(answer)
	}, [answer])
	const faults = useMemo(() => syntaxFaultsIn(error), [error])
	return { good, error, faults, unset: good?.unset ?? none }
}

const none: string[] = []

/** Those of the body, which have a place in the editor. */
export const syntaxFaultsIn = (error: unknown): SyntaxFault[] =>
	error instanceof TempostError
		? error.fields
				.filter(({ field, code }) => field === 'body' && code === 'template_syntax')
				.map(({ message, line = 1, column = 1 }) => ({ message, line, column }))
		: []
