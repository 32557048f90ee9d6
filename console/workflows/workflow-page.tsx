import { createLazyRoute, getRouteApi, Link } from '@tanstack/react-router'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { ExecutionsPanel } from '../executions/executions-panel.tsx'
import { Fault } from '../parts/fault.tsx'
import { Page } from '../parts/page.tsx'
import { Tabs } from '../parts/tabs.tsx'
import { useLeaving } from '../parts/use-leaving.ts'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { EditorPanel } from './editor-panel.tsx'
import { useCheck } from './use-check.ts'
import { useDraft } from './use-draft.ts'
import { VersionsPanel } from './versions-panel.tsx'
import { WorkflowActs } from './workflow-acts.tsx'
import { useWorkflow } from './workflow-queries.ts'
import { WorkflowState } from './workflow-state.tsx'

export const page = createLazyRoute('/console/$projectId/workflows/$workflowId')({
	component: WorkflowPage,
})
const route = getRouteApi('/console/$projectId/workflows/$workflowId')

function WorkflowPage() {
	const { workflowId } = route.useParams()
	const { data: workflow, error, refetch } = useWorkflow(workflowId)
	if (!workflow)
		return (
			<Page title="Workflow" back={<Back />}>
				{error ? <Fault error={error} retry={() => void refetch()} /> : <Waiting rows={12} />}
			</Page>
		)
	return <Loaded key={workflow.id} workflow={workflow} />
}

function Back() {
	const { project } = useProject()
	return (
		<Link to="/console/$projectId/workflows" params={{ projectId: project.id }}>
			Workflows
		</Link>
	)
}

function Loaded({ workflow }: { workflow: WorkflowWithSteps }) {
	const { tab = 'graph' } = route.useSearch()
	const navigate = route.useNavigate()
	const draft = useDraft(workflow)
	const { check, error } = useCheck(workflow, draft)
	useLeaving({
		isUnsaved: () => draft.isChanged,
		// Its tabs are one page, and after a log-in its changes are there again.
		isKeptAt: (next) => next.endsWith(`/workflows/${workflow.id}`) || next === '/console/log-in',
		lost: 'Your changes of this workflow are lost.',
		onLeave: draft.discard,
	})
	return (
		<Page
			title={workflow.name}
			back={<Back />}
			about={<WorkflowState workflow={workflow} />}
			actions={<WorkflowActs workflow={workflow} draft={draft} />}
		>
			<Tabs
				value={tab}
				onChange={(id) =>
					void navigate({
						search: id === 'people' || id === 'versions' ? { tab: id } : {},
						replace: true,
					})
				}
				tabs={[
					{
						id: 'graph',
						name: 'Steps',
						content: (
							<EditorPanel workflow={workflow} draft={draft} check={check} checkError={error} />
						),
					},
					{ id: 'people', name: 'People', content: <ExecutionsPanel workflow={workflow} /> },
					{
						id: 'versions',
						name: 'Versions',
						content: <VersionsPanel workflow={workflow} draft={draft} />,
					},
				]}
			/>
		</Page>
	)
}
