import { getRouteApi } from '@tanstack/react-router'
import type { ListedWorkflowVersion, WorkflowWithSteps } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import type { Draft } from './use-draft.ts'
import { VersionView } from './version-view.tsx'
import { useVersions } from './workflow-queries.ts'

const route = getRouteApi('/console/$projectId/workflows/$workflowId')

/** Every version that was published: which one new people get, and which ones people are still on. */
export function VersionsPanel({ workflow, draft }: { workflow: WorkflowWithSteps; draft: Draft }) {
	const { version: shown } = route.useSearch()
	const { data, error, refetch } = useVersions(workflow.id)
	if (shown !== undefined)
		return <VersionView workflow={workflow} draft={draft} versions={data ?? []} />
	return (
		<Stack>
			<p>
				Executions stay on the version that they started with. Publishing a change makes a new
				version for people who enter later.
			</p>
			<Table
				name="Versions"
				rows={data}
				error={error}
				retry={() => void refetch()}
				columns={columnsOf(workflow, data ?? [])}
				rowKey={({ version }) => String(version)}
				empty={
					<Empty title="No version yet">
						<p>The first version is made when you enable the workflow.</p>
					</Empty>
				}
			/>
		</Stack>
	)
}

const columnsOf = (
	{ enabled, version: current }: WorkflowWithSteps,
	versions: ListedWorkflowVersion[],
): Column<ListedWorkflowVersion>[] => [
	{
		name: 'Version',
		cell: ({ version }) => (
			<Row>
				<strong>Version {version}</strong>
				{version === current && (
					<Badge tone={enabled ? 'good' : 'none'}>
						{enabled ? 'New people get it' : 'The latest'}
					</Badge>
				)}
			</Row>
		),
		width: '1.4fr',
	},
	{ name: 'Published', cell: ({ createdAt }) => <Time at={createdAt} as="date" />, width: '170px' },
	{
		name: 'On it now',
		cell: ({ activeExecutions }) => formatCount(activeExecutions),
		width: '130px',
		isNumber: true,
	},
	{
		name: 'Actions',
		cell: ({ version }) => <Acts version={version} versions={versions} />,
		width: '250px',
	},
]

function Acts({ version, versions }: { version: number; versions: ListedWorkflowVersion[] }) {
	const navigate = route.useNavigate()
	const show = (other?: number) =>
		void navigate({ search: { tab: 'versions', version, ...(other && { with: other }) } })
	const before = versions.find((one) => one.version < version)?.version
	return (
		<Row>
			<Button onClick={() => show()}>Show {version}</Button>
			{before !== undefined && <Button onClick={() => show(before)}>Compare with {before}</Button>}
		</Row>
	)
}
