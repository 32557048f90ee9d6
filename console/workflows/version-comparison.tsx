import { lazy, Suspense, useMemo } from 'react'
import type { GetWorkflowVersionAnswer, WorkflowWithSteps } from '../../client/index.ts'
import { Badge } from '../parts/badge.tsx'
import { Columns, Section } from '../parts/page.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { type Graph, graphOfVersion } from './graph.ts'
import type { Mark } from './picture/picture-context.ts'
import { type Names, summaryOf } from './step-words.ts'
import { type Difference, differencesOf, kindNames, marksOf, toneOf } from './version-diff.ts'
import styles from './versions.module.css'
import { useNames } from './workflow-queries.ts'

const GraphPicture = lazy(() => import('./picture/graph-picture.tsx'))

interface Props {
	workflow: WorkflowWithSteps
	shown: GetWorkflowVersionAnswer
	/** An other version, beside which it is shown. */
	compared: GetWorkflowVersionAnswer | undefined
}

export function VersionComparison({ workflow, shown, compared }: Props) {
	const [older, newer] = useMemo(() => {
		const [one, other] = [shown, compared ?? shown].toSorted((a, b) => a.version - b.version)
		const sideOf = ({ version, definition }: GetWorkflowVersionAnswer) => ({
			version,
			graph: graphOfVersion(definition),
		})
		return [sideOf(one!), sideOf(other!)]
	}, [shown, compared])
	const steps = useMemo(() => [...older.graph.steps, ...newer.graph.steps], [older, newer])
	const names = useNames(steps, workflow.steps)
	const differences = useMemo(
		() => differencesOf(older.graph, newer.graph, names),
		[older, newer, names],
	)
	const marks = useMemo(() => marksOf(differences), [differences])
	if (!compared) return <Side {...newer} {...{ names, marks }} />
	return (
		<>
			<Differences differences={differences} older={older.version} newer={newer.version} />
			<Columns>
				<Side {...older} {...{ names, marks }} />
				<Side {...newer} {...{ names, marks }} />
			</Columns>
		</>
	)
}

interface SideProps {
	version: number
	graph: Graph
	names: Names
	marks: Map<string, Mark>
}

function Side({ version, graph, names, marks }: SideProps) {
	const summaries = useMemo(
		() => new Map(graph.steps.map((step) => [step.id, summaryOf(step, graph, names)])),
		[graph, names],
	)
	return (
		<figure className={styles.side}>
			<figcaption>Version {version}</figcaption>
			<div className={styles.picture}>
				<Suspense fallback={<Waiting rows={10} />}>
					<GraphPicture name={`Version ${version}`} {...{ graph, summaries, marks }} />
				</Suspense>
			</div>
		</figure>
	)
}

interface DifferencesProps {
	differences: Difference[]
	older: number
	newer: number
}

const Differences = ({ differences, older, newer }: DifferencesProps) => (
	<Section title={`From version ${older} to ${newer}`}>
		{differences.length === 0 ? (
			<p>They are the same.</p>
		) : (
			<ul className={styles.differences} aria-label="Differences">
				{differences.map(({ stepId, name, kind, changes }) => (
					<li key={stepId ?? 'workflow'}>
						<Badge tone={toneOf(kind)}>{kindNames[kind]}</Badge>
						<div>
							<strong>{name}</strong>
							{changes.map((change) => (
								<p key={change}>{change}</p>
							))}
						</div>
					</li>
				))}
			</ul>
		)}
	</Section>
)
