import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useCallback, useState } from 'react'
import { liveMs } from '../client.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { NewWorkflow } from './new-workflow.tsx'
import { Pager } from './pager.tsx'
import { useWorkflowColumns } from './workflow-columns.tsx'

export const page = createLazyRoute('/console/$projectId/workflows')({ component: WorkflowsPage })
const route = getRouteApi('/console/$projectId/workflows')
const pageSize = 50
const states = [
	{ value: 'active', name: 'Enabled' },
	{ value: 'disabled', name: 'Disabled' },
] as const

function WorkflowsPage() {
	const { project, api } = useProject()
	const { search, state, page: number = 1 } = route.useSearch()
	const navigate = route.useNavigate()
	const [isNew, setNew] = useState(false)
	const { data, error, refetch } = useQuery({
		queryKey: [project.id, 'workflows', 'list', search, state, number],
		queryFn: () => api.workflows.list({ search, status: state, page: number, pageSize }),
		refetchInterval: liveMs.normal,
		placeholderData: (previous) => previous,
	})
	const { acts, columns } = useWorkflowColumns()
	const set = useCallback(
		(changes: object) =>
			void navigate({ search: (old) => ({ ...old, page: undefined, ...changes }), replace: true }),
		[navigate],
	)
	const find = useCallback((text: string) => set({ search: text || undefined }), [set])
	const add = (
		<Button kind="primary" icon={<Plus size={15} />} onClick={() => setNew(true)}>
			New workflow
		</Button>
	)
	return (
		<Page title="Workflows" actions={add}>
			<Stack>
				<Row>
					<SearchBox name="Name or note" value={search ?? ''} onChange={find} />
					<Filter
						name="State"
						all="Any state"
						value={state}
						options={states}
						onChange={(value) => set({ state: value })}
					/>
				</Row>
				<Fault error={acts.error} />
				<Table
					name="Workflows"
					rows={data?.data}
					error={error}
					retry={() => void refetch()}
					columns={columns}
					rowKey={({ id }) => id}
					linkOf={({ id }) => `/console/${project.id}/workflows/${id}`}
					empty={search || state ? <NoneFound /> : <None add={add} />}
				/>
				{data && (
					<Pager {...data} onChange={(next) => set({ page: next === 1 ? undefined : next })} />
				)}
			</Stack>
			<NewWorkflow isOpen={isNew} onClose={() => setNew(false)} />
		</Page>
	)
}

const NoneFound = () => (
	<Empty title="No workflow is like that">
		<p>Names and notes are searched.</p>
	</Empty>
)

const None = ({ add }: { add: React.ReactNode }) => (
	<Empty title="No workflow yet" action={add}>
		<p>
			A workflow takes each contact through steps: a mail when they sign up, a wait of three days
			for an order, a reminder if none comes.
		</p>
	</Empty>
)
