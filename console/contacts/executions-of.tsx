import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Contact, ContactExecution } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { errorInWords } from '../executions/error-in-words.ts'
import { Status } from '../parts/badge.tsx'
import { Time } from '../parts/time.tsx'
import type { Moment } from '../parts/timeline.tsx'
import { useProject } from '../shell/projects.ts'
import { useIsDeleting } from '../parts/deletion.ts'
import { History } from './history.tsx'

/** The executions of one person in all workflows, with the step they are at. */
export function ExecutionsOf({ contact }: { contact: Contact }) {
	const { project, api } = useProject()
	const query = useInfiniteQuery({
		queryKey: [project.id, 'contacts', contact.id, 'executions'],
		queryFn: ({ pageParam }) =>
			api.contacts.listExecutions(contact.id, { page: pageParam, pageSize: 50 }),
		initialPageParam: 1,
		getNextPageParam: ({ page, totalPages }) => (page < totalPages ? page + 1 : undefined),
		refetchInterval: useIsDeleting(contact.id) ? false : liveMs.normal,
	})
	return (
		<History
			moments={query.data?.pages.flatMap(({ data }) => data.map(momentOf))}
			none="In no workflow yet."
			error={query.error}
			retry={() => void query.refetch()}
			more={query.hasNextPage ? () => void query.fetchNextPage() : undefined}
			isLoadingMore={query.isFetchingNextPage}
		/>
	)
}

const momentOf = (execution: ContactExecution): Moment => ({
	at: execution.startedAt,
	title: <Execution {...execution} />,
	detail: <Whereabouts {...execution} />,
})

function Execution({ id, workflowId, workflow }: ContactExecution) {
	const { project } = useProject()
	return (
		<Link to={`/console/${project.id}/workflows/${workflowId}/executions/${id}` as '/'}>
			{workflow.name}
		</Link>
	)
}

const Whereabouts = (execution: ContactExecution) => {
	const { status, version, currentStep, completedAt, exitReason, error } = execution
	const isUnderWay = status === 'RUNNING' || status === 'WAITING'
	return (
		<>
			<Status status={status} /> Version {version}
			{isUnderWay && currentStep && ` · at “${currentStep.name}”`}
			{completedAt && (
				<>
					{' '}
					· ended <Time at={completedAt} as="date" />
				</>
			)}
			{(error ?? exitReason) && ` · ${error ? errorInWords(error) : exitReason}`}
		</>
	)
}
