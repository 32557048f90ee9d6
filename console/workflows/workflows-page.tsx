import { useQuery } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi } from '@tanstack/react-router'
import { Ellipsis, Plus } from 'lucide-react'
import { useCallback, useState } from 'react'
import type { ListedWorkflow } from '../../client/index.ts'
import { liveMs } from '../client.ts'
import { Badge } from '../parts/badge.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Fault } from '../parts/fault.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Filter } from '../parts/filter.tsx'
import { Menu } from '../parts/menu.tsx'
import { Page, Row, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { useProject } from '../shell/projects.ts'
import { NewWorkflow } from './new-workflow.tsx'
import { Pager } from './pager.tsx'
import { triggerInWords } from './step-words.ts'
import { useWorkflowActs } from './use-workflow-acts.ts'
import { useSegments } from './workflow-queries.ts'

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
	const { acts, columns } = useColumns()
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

function useColumns() {
	const { data: segments = [] } = useSegments()
	const acts = useWorkflowActs()
	const names = {
		templates: new Map<string, string>(),
		segments: new Map(segments.map(({ id, name }) => [id, name])),
	}
	const columns: Column<ListedWorkflow>[] = [
		{ name: 'Name', cell: ({ name }) => name, width: '1.6fr' },
		{
			name: 'Starts',
			cell: ({ triggerType, triggerConfig }) =>
				triggerInWords({ type: triggerType, config: { ...triggerConfig } }, names),
			width: '2fr',
		},
		{
			name: 'State',
			cell: ({ enabled, version }) => (
				<Badge tone={enabled ? 'good' : 'none'}>
					{enabled ? `Enabled, version ${version}` : 'Disabled'}
				</Badge>
			),
			width: '150px',
		},
		{
			name: 'In it now',
			cell: ({ _count }) => formatCount(_count.active),
			width: '90px',
			isNumber: true,
		},
		{
			name: 'Ended',
			cell: ({ _count }) => formatCount(_count.executions - _count.active),
			width: '90px',
			isNumber: true,
		},
		{
			name: 'Acts',
			cell: (workflow) => (
				<Menu
					trigger={<IconButton name={`Acts on ${workflow.name}`} icon={<Ellipsis size={16} />} />}
					items={[
						{
							name: workflow.enabled ? 'Disable' : 'Enable',
							act: () => acts.setEnabled(workflow, workflow._count.active),
						},
						{ name: 'Duplicate', act: () => acts.duplicate(workflow) },
						null,
						{ name: 'Delete', isDestructive: true, act: () => acts.remove(workflow) },
					]}
				/>
			),
			width: '40px',
		},
	]
	return { acts, columns }
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
