import { ExternalLink } from 'lucide-react'
import { Link } from '@tanstack/react-router'
import type { ActiveRun } from '../../client/index.ts'
import { Empty } from '../parts/empty.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'
import { useProject } from '../shell/projects.ts'

const kinds: Record<ActiveRun['kind'], string> = {
	campaign: 'Sends a campaign',
	import: 'Imports contacts',
	undo: 'Takes back an import',
	replay: 'Replays webhooks',
	bulk: 'Changes many contacts',
	enrolment: 'Enrols contacts in a workflow',
	suspension: 'Suspends the project',
	send: 'Sends mails of requests',
	execution: 'Takes one contact through a workflow',
}

/** The pages of what runs are about, where there is one. */
const pages: Partial<Record<ActiveRun['kind'], string>> = {
	campaign: 'campaigns',
	enrolment: 'workflows',
}

const columns: Column<ActiveRun>[] = [
	{ name: 'Run', cell: (run) => <Subject run={run} />, width: '1.4fr' },
	{ name: 'Started', cell: ({ startedAt }) => <Time at={startedAt} />, width: '170px' },
	{ name: 'In Temporal', cell: (run) => <InTemporal run={run} />, width: '2fr' },
]

/** The newest runs that have not ended. */
export const Runs = ({ runs }: { runs: ActiveRun[] }) => (
	<>
		<Table
			name="Active runs"
			columns={columns}
			rows={runs}
			rowKey={({ workflowId }) => workflowId}
			empty={
				<Empty title="Nothing runs now">
					<p>Campaigns, imports, requests and executions appear here while they are under way.</p>
				</Empty>
			}
		/>
		{runs.length > 0 && runs[0]?.temporalUrl === null && (
			<p>
				Set <code>TEMPORAL_UI_URL</code> to the address of Temporal’s Web UI, and each name becomes
				a link to its run there.
			</p>
		)}
	</>
)

function Subject({ run: { kind, id } }: { run: ActiveRun }) {
	const { project } = useProject()
	const page = pages[kind]
	if (!page) return kinds[kind]
	return <Link to={`/console/${project.id}/${page}/${id}` as '/'}>{kinds[kind]}</Link>
}

const InTemporal = ({ run: { workflowId, temporalUrl } }: { run: ActiveRun }) =>
	temporalUrl === null ? (
		<code>{workflowId}</code>
	) : (
		<a
			href={temporalUrl}
			target="_blank"
			rel="noopener noreferrer"
			aria-label={`${workflowId} in Temporal`}
		>
			<code>{workflowId}</code> <ExternalLink size={13} aria-hidden />
		</a>
	)
