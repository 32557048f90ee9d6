import { Handle, type Node, type NodeProps, Position } from '@xyflow/react'
import { Plus } from 'lucide-react'
import { memo } from 'react'
import { formatBrief } from '../../parts/figures.tsx'
import { Time } from '../../parts/time.tsx'
import type { GraphStep } from '../graph.ts'
import { kinds } from '../step-kinds.ts'
import { branchInWords } from '../step-words.ts'
import { type Mark, usePicture } from './picture-context.ts'
import styles from './picture.module.css'

export interface Outcome {
	branch: string | null
	isOpen: boolean
}
export type StepNodeData = { step: GraphStep; outcomes: Outcome[] }
export type StepNode = Node<StepNodeData, 'step'>

/** Drawn again only when the step or what is known of it changes, not while the picture is moved. */
export const StepNodeView = memo(function StepNodeView({ data }: NodeProps<StepNode>) {
	const { step, outcomes } = data
	const { marks, summaries, chosen, onChoose, onAdd } = usePicture()
	const { icon: Icon, name: kind } = kinds[step.type]
	const mark = marks.get(step.id)
	const isEditable = onAdd !== undefined
	return (
		<>
			{step.type !== 'TRIGGER' && (
				<Handle type="target" position={Position.Top} isConnectable={isEditable} />
			)}
			<button
				type="button"
				className={styles.node}
				data-step={step.id}
				data-tone={mark?.fault ? 'bad' : mark?.tone}
				data-chosen={chosen === step.id}
				onClick={() => onChoose?.(step.id)}
			>
				<span className={styles.kind}>
					<Icon size={14} aria-hidden />
					{kind}
					{mark?.note && <span className={styles.note}>{mark.note}</span>}
				</span>
				<span className={styles.name}>{step.name}</span>
				<span className={styles.summary}>{mark?.fault ?? summaries.get(step.id)}</span>
				{mark && <Counts {...mark} isMail={step.type === 'SEND_EMAIL'} />}
			</button>
			{outcomes.map(({ branch, isOpen }, at) => (
				<Out
					key={branch ?? ''}
					step={step}
					branch={branch}
					share={(at + 1) / (outcomes.length + 1)}
					isOpen={isOpen}
				/>
			))}
		</>
	)
})

/** A mail that may not be sent ends nobody's way, so nobody has failed. */
function Counts({ here, passed, failed, at, isMail }: Mark & { isMail: boolean }) {
	if (!here && !passed && !failed && !at) return null
	return (
		<span className={styles.counts}>
			{at && <Time at={at} as="date" />}
			{here ? <span className={styles.here}>{formatBrief(here)} here now</span> : null}
			{passed ? <span>{formatBrief(passed)} passed</span> : null}
			{failed && isMail ? <span>{formatBrief(failed)} not sent</span> : null}
			{failed && !isMail ? (
				<span className={styles.failed}>{formatBrief(failed)} failed</span>
			) : null}
		</span>
	)
}

function Out({ step, branch, share, isOpen }: Outcome & { step: GraphStep; share: number }) {
	const { onAdd } = usePicture()
	const left = `${share * 100}%`
	const name = branchInWords(step, branch)
	return (
		<>
			<Handle
				type="source"
				id={branch ?? 'next'}
				position={Position.Bottom}
				isConnectable={onAdd !== undefined}
				style={{ left }}
				title={onAdd && 'Drag to another step to lead there'}
			/>
			{isOpen && (onAdd || name) && (
				<span className={styles.open} style={{ left }}>
					{name && <span className={styles.label}>{name}</span>}
					{onAdd && (
						<button
							type="button"
							className={`${styles.add} nodrag nopan`}
							aria-label={`Add a step after ${step.name}${name && `, ${name}`}`}
							title="Add a step"
							onClick={() => onAdd({ stepId: step.id, branch })}
						>
							<Plus size={14} />
						</button>
					)}
				</span>
			)}
		</>
	)
}
