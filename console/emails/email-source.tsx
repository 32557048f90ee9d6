import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { EmailWithAttempts } from '../../client/index.ts'
import { inWords } from '../parts/badge.tsx'
import { useProject } from '../shell/projects.ts'

/** Leads to the campaign, the passage through a workflow or the template that a mail comes from. */
export function EmailSource({ mail }: { mail: EmailWithAttempts }) {
	const { campaignId, templateId, sourceType } = mail
	const execution = useExecution(mail)
	const words = inWords(sourceType)
	if (campaignId) return <To path={`campaigns/${campaignId}`}>{words}</To>
	if (execution)
		return (
			<To path={`workflows/${execution.workflowId}/executions/${execution.id}`}>
				{words} “{execution.workflow.name}”
			</To>
		)
	if (templateId)
		return (
			<>
				{words} · <To path={`templates/${templateId}`}>its template</To>
			</>
		)
	return words
}

function To({ path, children }: { path: string; children: ReactNode }) {
	const { project } = useProject()
	return <Link to={`/console/${project.id}/${path}` as '/'}>{children}</Link>
}

/** A mail knows its execution, and the executions of its contact know their workflows. */
function useExecution({ contactId, workflowExecutionId }: EmailWithAttempts) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'contacts', contactId, 'executions', 'newest'],
		queryFn: async () => (await api.contacts.listExecutions(contactId!, { pageSize: 50 })).data,
		enabled: contactId !== null && workflowExecutionId !== null,
		select: (executions) => executions.find(({ id }) => id === workflowExecutionId),
	})
	return data
}
