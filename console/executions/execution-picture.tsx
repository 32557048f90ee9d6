import { lazy, Suspense, useMemo } from 'react'
import type { ExecutionWithSteps } from '../../client/index.ts'
import { Fault } from '../parts/fault.tsx'
import { Soft } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { graphOfVersion } from '../workflows/graph.ts'
import { summaryOf } from '../workflows/step-words.ts'
import { useNames, useVersion, useWorkflow } from '../workflows/workflow-queries.ts'
import { marksOf, walkedWays } from './execution-path.ts'
import styles from './execution.module.css'

const GraphPicture = lazy(() => import('../workflows/picture/graph-picture.tsx'))
const none: { templateId: string | null }[] = []

/** The path of one person, on the version that they run. */
export function ExecutionPicture({ execution }: { execution: ExecutionWithSteps }) {
	const { workflowId, version, stepExecutions: visits, currentStepId } = execution
	const { data, error, refetch } = useVersion(workflowId, version)
	const graph = useMemo(() => data && graphOfVersion(data.definition), [data])
	// Its steps bring the names of most templates at once.
	const { data: workflow } = useWorkflow(workflowId, false)
	const names = useNames((workflow && graph?.steps) ?? none, workflow?.steps)
	const summaries = useMemo(
		() => new Map(graph?.steps.map((step) => [step.id, summaryOf(step, graph, names)])),
		[graph, names],
	)
	const marks = useMemo(() => marksOf(visits), [visits])
	const walked = useMemo(
		() => (graph ? walkedWays(graph, visits) : new Set<string>()),
		[graph, visits],
	)
	if (error) return <Fault error={error} retry={() => void refetch()} />
	return (
		<div>
			<div className={styles.picture}>
				{graph ? (
					<Suspense fallback={<Waiting rows={10} />}>
						<GraphPicture
							name={`The path on version ${version}`}
							{...{ graph, summaries, marks, walked }}
							chosen={currentStepId ?? undefined}
						/>
					</Suspense>
				) : (
					<Waiting rows={10} />
				)}
			</div>
			<Soft>Version {version} is shown: this person stays on it to the end.</Soft>
		</div>
	)
}
