import { getRouteApi } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import type { ListedWorkflowVersion, WorkflowWithSteps } from '../../client/index.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Filter } from '../parts/filter.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import type { Draft } from './use-draft.ts'
import { useRestoring } from './use-restoring.ts'
import { VersionComparison } from './version-comparison.tsx'
import { useVersion } from './workflow-queries.ts'

const route = getRouteApi('/console/$projectId/workflows/$workflowId')

interface Props {
	workflow: WorkflowWithSteps
	draft: Draft
	versions: ListedWorkflowVersion[]
}

/** One version, to be looked at, alone or beside another. */
export function VersionView({ workflow, draft, versions }: Props) {
	const { version = 1, with: other } = route.useSearch()
	const navigate = route.useNavigate()
	const shown = useVersion(workflow.id, version)
	const compared = useVersion(workflow.id, other ?? version)
	const restoring = useRestoring(workflow, draft)
	const error = shown.error ?? compared.error
	const go = (search: { version?: number; with?: number | undefined }) =>
		void navigate({ search: { tab: 'versions', ...search }, replace: true })
	return (
		<Stack>
			<Row>
				<Button kind="quiet" icon={<ArrowLeft size={15} />} onClick={() => go({})}>
					All versions
				</Button>
				<strong>Version {version}</strong>
				<Filter
					name="Compare with"
					all="Not compared"
					value={other === undefined ? undefined : String(other)}
					options={versions
						.filter((one) => one.version !== version)
						.map((one) => ({ value: String(one.version), name: `Compared with ${one.version}` }))}
					onChange={(chosen) => go({ version, with: chosen ? Number(chosen) : undefined })}
				/>
				{version !== workflow.version && (
					<Button isBusy={restoring.isBusy} onClick={() => restoring.restore(version)}>
						Restore version {version}
					</Button>
				)}
			</Row>
			<Fault error={restoring.error} />
			{error ? (
				<Fault error={error} />
			) : shown.data && compared.data ? (
				<VersionComparison
					workflow={workflow}
					shown={shown.data}
					compared={other === undefined ? undefined : compared.data}
				/>
			) : (
				<Waiting rows={10} />
			)}
		</Stack>
	)
}
