import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { useState } from 'react'
import type { ListedExecution, WorkflowWithSteps } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { inWords, Status } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Filter } from '../parts/filter.tsx'
import { Row, Soft, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useIsDeleting } from '../parts/deletion.ts'
import { useProject } from '../shell/projects.ts'
import { Pager } from '../workflows/pager.tsx'
import { errorInWords } from './error-in-words.ts'
import { StartExecution } from './start-execution.tsx'
import { useExecutionActs } from './use-execution-acts.ts'

const route = getRouteApi('/console/$projectId/workflows/$workflowId')
const pageSize = 50
const statuses = ['WAITING', 'RUNNING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED'] as const

const columns: Column<ListedExecution>[] = [
	{ name: 'Contact', cell: ({ contact }) => contact?.email ?? 'A deleted contact', width: '2fr' },
	{ name: 'Status', cell: ({ status }) => <Status status={status} />, width: '110px' },
	{
		name: 'At step',
		cell: (execution) => placeOf(execution),
		width: '1.3fr',
	},
	{
		name: 'Version',
		cell: ({ version }) => version,
		width: '80px',
		isNumber: true,
		isLeftOutOnPhone: true,
	},
	{ name: 'Started', cell: ({ startedAt }) => <Time at={startedAt} />, width: '130px' },
	{
		name: 'Ended',
		cell: ({ completedAt }) => <Time at={completedAt} />,
		width: '130px',
		isLeftOutOnPhone: true,
	},
]

const placeOf = ({ currentStep, error, exitReason }: ListedExecution) =>
	[currentStep?.name, error ? errorInWords(error) : exitReason].filter(Boolean).join(': ') || '–'

/** The people of a workflow: those who are in it, and those who were. */
export function ExecutionsPanel({ workflow }: { workflow: WorkflowWithSteps }) {
	const { project, api } = useProject()
	const { status, at, page: number = 1 } = route.useSearch()
	const [isStarting, setStarting] = useState(false)
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'workflows', workflow.id, 'executions', status, at, number],
		queryFn: () => api.executions.list(workflow.id, { status, stepId: at, page: number, pageSize }),
		enabled: !useIsDeleting(workflow.id),
		refetchInterval: number === 1 ? liveMs.normal : false,
		placeholderData: (previous) => previous,
	})
	const { cancelAll, retryFailed, error: fault, isBusy } = useExecutionActs(workflow.id)
	const set = useSearchChange()
	const active = workflow.steps.reduce((sum, { activeExecutions }) => sum + activeExecutions, 0)
	const failed = useFailedCount(workflow.id)
	return (
		<Stack>
			<Row>
				<Filter
					name="Status"
					all="Any status"
					value={status}
					options={statuses.map((value) => ({ value, name: inWords(value) }))}
					onChange={(value) => set({ status: value })}
				/>
				<Filter
					name="Step"
					all="At any step"
					value={at}
					options={workflow.steps.map(({ id, name }) => ({ value: id, name: `At “${name}”` }))}
					onChange={(value) => set({ at: value })}
				/>
				{data && <Soft>{formatCount(data.total)} in all</Soft>}
				<Button
					icon={<Play size={15} />}
					disabled={!workflow.enabled}
					title={workflow.enabled ? undefined : 'Enable the workflow first'}
					onClick={() => setStarting(true)}
				>
					Start for a contact
				</Button>
				{failed > 0 && (
					<Button isBusy={isBusy} onClick={() => retryFailed(failed)}>
						Retry {formatCount(failed)} failed
					</Button>
				)}
				{active > 0 && (
					<Button kind="danger" isBusy={isBusy} onClick={() => cancelAll(active)}>
						Cancel all
					</Button>
				)}
			</Row>
			<Fault error={fault} />
			<Table
				name="People"
				rows={data?.data}
				error={error}
				retry={() => void refetch()}
				columns={columns}
				rowKey={({ id }) => id}
				linkOf={({ id }) => `/console/${project.id}/workflows/${workflow.id}/executions/${id}`}
				empty={status || at ? <NoneFound /> : <None workflow={workflow} />}
			/>
			{data && (
				<Pager {...data} onChange={(page) => set({ page: page === 1 ? undefined : page })} />
			)}
			<StartExecution workflow={workflow} isOpen={isStarting} onClose={() => setStarting(false)} />
		</Stack>
	)
}

function useFailedCount(workflowId: string) {
	const { project, api } = useProject()
	const { data } = useQuery({
		queryKey: [project.id, 'workflows', workflowId, 'executions', 'failed'],
		queryFn: () => api.executions.list(workflowId, { status: 'FAILED', pageSize: 1 }),
		enabled: !useIsDeleting(workflowId),
		refetchInterval: liveMs.normal,
	})
	return data?.total ?? 0
}

function useSearchChange() {
	const navigate = route.useNavigate()
	return (changes: object) =>
		void navigate({ search: (old) => ({ ...old, page: undefined, ...changes }), replace: true })
}

const NoneFound = () => (
	<Empty title="Nobody is like that">
		<p>Choose another status or step.</p>
	</Empty>
)

const None = ({ workflow }: { workflow: WorkflowWithSteps }) => (
	<Empty title="Nobody has entered yet">
		<p>
			{workflow.enabled
				? 'People appear here when the trigger happens for them, or when you start the workflow for a contact.'
				: 'Enable the workflow. Then people enter when its trigger happens for them.'}
		</p>
	</Empty>
)
