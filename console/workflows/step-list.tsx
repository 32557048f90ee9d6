import { formatCount } from '../parts/figures.tsx'
import styles from './editor.module.css'
import { branchesOf, type Graph, inOrder, wayFrom } from './graph.ts'
import type { Mark } from './picture/picture-context.ts'
import { kinds } from './step-kinds.ts'
import { branchInWords } from './step-words.ts'

interface Props {
	graph: Graph
	summaries: ReadonlyMap<string, string>
	marks: ReadonlyMap<string, Mark>
	chosen: string | undefined
	onChoose: (stepId: string) => void
}

/** The same as the picture, as a list: for screen readers and for large workflows. */
export function StepList({ graph, summaries, marks, chosen, onChoose }: Props) {
	const names = new Map(graph.steps.map(({ id, name }) => [id, name]))
	return (
		<ol className={styles.steps} aria-label="Steps">
			{inOrder(graph).map((step) => {
				const { here, passed, failed, fault } = marks.get(step.id) ?? {}
				const ways = branchesOf(step).map((branch) => {
					const way = wayFrom(graph, step.id, branch)
					const name = branchInWords(step, branch)
					return `${name ? `If ${name}: ` : 'Then '}${way ? names.get(way.toStepId) : 'the end'}`
				})
				const counts = [
					here ? `${formatCount(here)} here now` : '',
					passed ? `${formatCount(passed)} passed` : '',
					failed ? `${formatCount(failed)} failed` : '',
				].filter(Boolean)
				return (
					<li key={step.id}>
						<button
							type="button"
							className={styles.step}
							data-step={step.id}
							aria-current={chosen === step.id}
							onClick={() => onChoose(step.id)}
						>
							<strong>{step.name}</strong>
							<span className={styles.soft}>
								{[kinds[step.type].name, summaries.get(step.id)].filter(Boolean).join(' · ')}
							</span>
							{ways.length > 0 && <span className={styles.soft}>{ways.join(' · ')}</span>}
							{counts.length > 0 && <span className={styles.soft}>{counts.join(' · ')}</span>}
							{fault && <span className={styles.bad}>{fault}</span>}
						</button>
					</li>
				)
			})}
		</ol>
	)
}
