import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { ExecutionWithSteps } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Columns, Page, Section } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { ExecutionFacts } from './execution-facts.tsx'
import { ExecutionPicture } from './execution-picture.tsx'
import { ExecutionTimeline } from './execution-timeline.tsx'
import { useExecutionActs } from './use-execution-acts.ts'

export const page = createLazyRoute(
	'/console/$projectId/workflows/$workflowId/executions/$executionId',
)({ component: ExecutionPage })
const route = getRouteApi('/console/$projectId/workflows/$workflowId/executions/$executionId')

const isActive = (status: string | undefined) => status === 'RUNNING' || status === 'WAITING'

function ExecutionPage() {
	const { workflowId, executionId } = route.useParams()
	const { project, api } = useProject()
	const {
		data: execution,
		error,
		refetch,
	} = useQuery({
		queryKey: [project.id, 'workflows', workflowId, 'executions', executionId],
		queryFn: () => api.executions.get(workflowId, executionId),
		refetchInterval: ({ state }) => (isActive(state.data?.status) ? liveMs.normal : false),
	})
	const params = { projectId: project.id, workflowId }
	const back = (
		<Link to="/console/$projectId/workflows/$workflowId" params={params} search={{ tab: 'people' }}>
			{execution?.workflow.name ?? 'Workflow'}
		</Link>
	)
	if (!execution)
		return (
			<Page title="Execution" back={back}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting />}
			</Page>
		)
	return (
		<Page
			title={execution.contact?.email ?? 'A deleted contact'}
			back={back}
			about={<Status status={execution.status} />}
			actions={<Acts execution={execution} />}
		>
			<Columns>
				<div>
					<ExecutionFacts execution={execution} />
					<Section title="Steps so far">
						<ExecutionTimeline execution={execution} />
					</Section>
				</div>
				<ExecutionPicture execution={execution} />
			</Columns>
		</Page>
	)
}

function Acts({ execution }: { execution: ExecutionWithSteps }) {
	const { cancel, retry, error, isBusy } = useExecutionActs(execution.workflowId)
	return (
		<>
			<Fault error={error} />
			{isActive(execution.status) && (
				<Button
					kind="danger"
					isBusy={isBusy}
					onClick={() => cancel(execution.id, execution.contact?.email ?? 'a deleted contact')}
				>
					Cancel the execution
				</Button>
			)}
			{execution.status === 'FAILED' && execution.contactId && (
				<Button kind="primary" isBusy={isBusy} onClick={() => retry(execution.id)}>
					Retry the failed step
				</Button>
			)}
		</>
	)
}
