import { Plus } from 'lucide-react'
import { IconButton } from '../parts/button.tsx'
import { Select } from '../parts/field.tsx'
import styles from './editor.module.css'
import { branchesOf, type Graph, type GraphStep, inOrder, wayFrom } from './graph.ts'
import { connect, mayLead, type Opening } from './graph-edits.ts'
import { branchInWords } from './step-words.ts'

interface Props {
	step: GraphStep
	graph: Graph
	onChange: (graph: Graph) => void
	onAdd: (opening: Opening) => void
}

/** Where each outcome of a step leads: the same as dragging in the picture. */
export function StepWays({ step, graph, onChange, onAdd }: Props) {
	const branches = branchesOf(step)
	if (branches.length === 0) return null
	const targets = inOrder(graph).filter((other) => mayLead(step, other))
	return (
		<div className={`${styles.fields} ${styles.heading}`}>
			<h3>Leads to</h3>
			{branches.map((branch) => {
				const name = branchInWords(step, branch)
				return (
					<div key={branch ?? ''} className={styles.way}>
						<Select
							name={`way ${branch ?? ''}`}
							label={name ? `If ${name}` : 'Next step'}
							options={[
								{ value: '', name: 'Nothing: it ends here' },
								...targets.map(({ id, name: target }) => ({ value: id, name: target })),
							]}
							value={wayFrom(graph, step.id, branch)?.toStepId ?? ''}
							onChange={({ target }) =>
								onChange(connect(graph, { stepId: step.id, branch }, target.value || undefined))
							}
						/>
						<IconButton
							name={`Add a step after ${step.name}${name && `, ${name}`}, from the panel`}
							icon={<Plus size={16} />}
							onClick={() => onAdd({ stepId: step.id, branch })}
						/>
					</div>
				)
			})}
		</div>
	)
}
