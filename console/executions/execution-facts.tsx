import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ExecutionWithSteps } from '../../client/index.ts'
import { Facts } from '../parts/figures.tsx'
import { Time } from '../parts/time.tsx'
import { mayAct, useProject } from '../shell/projects.ts'
import { errorInWords } from './error-in-words.ts'
import { namesAndValues } from './step-output.tsx'

export function ExecutionFacts({ execution }: { execution: ExecutionWithSteps }) {
	const { project } = useProject()
	const { contact, workflowId, version, startedAt, completedAt, context } = execution
	const { currentStep, exitReason, error, id } = execution
	const temporalUrl = useTemporalUrl(execution)
	const optional = (name: string, value: ReactNode): [string, ReactNode][] =>
		value ? [[name, value]] : []
	return (
		<Facts
			facts={[
				[
					'Contact',
					contact ? (
						<Link to={`/console/${project.id}/contacts/${contact.id}` as '/'}>{contact.email}</Link>
					) : (
						'Deleted'
					),
				],
				[
					'Version',
					<Link
						to="/console/$projectId/workflows/$workflowId"
						params={{ projectId: project.id, workflowId }}
						search={{ tab: 'versions', version }}
					>
						{version}
					</Link>,
				],
				...optional('At step', currentStep?.name),
				...optional('Reason', exitReason),
				...optional('Error', error && errorInWords(error)),
				['Started', <Time at={startedAt} as="date" />],
				...optional('Ended', completedAt && <Time at={completedAt} as="date" />),
				...optional('Variables', namesAndValues(context)),
				...optional(
					'Temporal',
					temporalUrl && (
						<a href={temporalUrl} target="_blank" rel="noreferrer">
							Show the run
						</a>
					),
				),
				['Id', <code>{id}</code>],
			]}
		/>
	)
}

/** The API names it to owners, for the newest runs. */
function useTemporalUrl({ id, status }: ExecutionWithSteps) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'system'],
		queryFn: () => api.projects.getSystem(project.id),
		enabled: mayAct(project, 'OWNER') && (status === 'RUNNING' || status === 'WAITING'),
		staleTime: 30_000,
	})
	return data?.runs.find((run) => run.id === id)?.temporalUrl
}
