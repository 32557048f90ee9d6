import { Link } from '@tanstack/react-router'
import { Trash2, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { TextField } from '../parts/field.tsx'
import { formatCount } from '../parts/figures.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './editor.module.css'
import { TriggerForm } from './forms/trigger-form.tsx'
import type { Graph, GraphStep } from './graph.ts'
import { changeStep, type Opening } from './graph-edits.ts'
import { StepForm } from './step-form.tsx'
import { kinds } from './step-kinds.ts'
import { StepWays } from './step-ways.tsx'
import { type Check, faultInWords, faultOfStep } from './use-check.ts'

interface Props {
	workflowId: string
	step: GraphStep
	graph: Graph
	check: Check | undefined
	here: number
	/** After undo, redo and discard, the fields show what has come back. */
	returns: number
	onChange: (graph: Graph, group?: string) => void
	onAdd: (opening: Opening) => void
	onDelete: () => void
	onClose: () => void
}

/** The settings of one step, beside the picture. */
export function StepPanel(props: Props) {
	const { workflowId, step, graph, check, here, returns, onChange, onAdd, onDelete, onClose } =
		props
	const { icon: Icon, name: kind, about } = kinds[step.type]
	const panel = useRef<HTMLElement>(null)
	useEffect(() => panel.current?.querySelector('input')?.focus({ preventScroll: true }), [step.id])
	const set = (changes: Partial<GraphStep>, group?: string) =>
		onChange(changeStep(graph, step.id, changes), group && `${step.id} ${group}`)
	const error = faultOfStep(check, step.id)
	return (
		<section
			ref={panel}
			className={styles.panel}
			aria-label={`Step ${step.name}`}
			onKeyDown={(event: KeyboardEvent) => event.key === 'Escape' && onClose()}
		>
			<header className={styles.head}>
				<Icon size={16} aria-hidden />
				<span title={about}>{kind}</span>
				<IconButton name="Close the step" icon={<X size={16} />} onClick={onClose} />
			</header>
			<Problems check={check} graph={graph} stepId={step.id} />
			<div className={styles.fields} key={`${step.id} ${returns}`}>
				<TextField
					name="name"
					label="Name"
					maxLength={100}
					value={step.name}
					error={error}
					onChange={({ target }) => set({ name: target.value }, 'name')}
				/>
				{step.type === 'TRIGGER' ? (
					<TriggerForm graph={graph} onChange={onChange} error={triggerFault(check)} />
				) : (
					<StepForm
						step={step}
						graph={graph}
						error={error}
						onConfig={(config, group, unfinished) =>
							set({ config, ...(unfinished && { unfinished }) }, group)
						}
						onTemplate={(templateId) => set({ templateId })}
					/>
				)}
			</div>
			<StepWays step={step} graph={graph} onChange={onChange} onAdd={onAdd} />
			{here > 0 && <PeopleHere workflowId={workflowId} stepId={step.id} here={here} />}
			{step.type !== 'TRIGGER' && (
				<div>
					<Button kind="danger" icon={<Trash2 size={15} />} onClick={onDelete}>
						Delete step
					</Button>
				</div>
			)}
		</section>
	)
}

/** Faults of the workflow itself are those of its trigger. */
function triggerFault(check: Check | undefined) {
	if (!check) return undefined
	const errors = check.errors.map((fault) => ({ ...fault, stepId: fault.stepId ?? 'trigger' }))
	return faultOfStep({ ...check, errors }, 'trigger')
}

interface ProblemsProps {
	check: Check | undefined
	graph: Graph
	stepId: string
}

function Problems({ check, graph, stepId }: ProblemsProps) {
	// The others are shown at their fields.
	const isOfStep = (fault: Check['errors'][number]) =>
		fault.stepId === stepId && (fault.field === '' || fault.field === 'config')
	const faults = check?.errors.filter(isOfStep) ?? []
	const warnings = check?.warnings.filter((warning) => warning.stepId === stepId) ?? []
	if (faults.length + warnings.length === 0) return null
	return (
		<ul aria-label="Problems of this step">
			{faults.map((fault) => (
				<li key={fault.field + fault.message} className={styles.bad}>
					{faultInWords(fault, graph)}
				</li>
			))}
			{warnings.map(({ message }) => (
				<li key={message} className={styles.soft}>
					{message}
				</li>
			))}
		</ul>
	)
}

function PeopleHere({
	workflowId,
	stepId,
	here,
}: {
	workflowId: string
	stepId: string
	here: number
}) {
	const { project } = useProject()
	return (
		<p className={styles.heading}>
			<Link
				to="/console/$projectId/workflows/$workflowId"
				params={{ projectId: project.id, workflowId }}
				search={{ tab: 'people', at: stepId }}
			>
				{here === 1 ? '1 person is' : `${formatCount(here)} people are`} here now
			</Link>
		</p>
	)
}
