import { lazy, Suspense, useCallback, useMemo, useState } from 'react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { useConfirm } from '../parts/confirm.tsx'
import { formatCount } from '../parts/figures.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { AddStep } from './add-step.tsx'
import styles from './editor.module.css'
import type { StepType } from './graph.ts'
import { addStep, connect, nextAfterRemoval, type Opening, removeStep } from './graph-edits.ts'
import { StepList } from './step-list.tsx'
import { StepPanel } from './step-panel.tsx'
import { summaryOf } from './step-words.ts'
import type { Check } from './use-check.ts'
import type { Draft } from './use-draft.ts'
import { useEditorKeys } from './use-editor-keys.ts'
import { useMarks } from './use-marks.ts'
import { useNames } from './workflow-queries.ts'

const GraphPicture = lazy(() => import('./picture/graph-picture.tsx'))

interface Props {
	workflow: WorkflowWithSteps
	draft: Draft
	check: Check | undefined
	isList: boolean
	chosen: string | undefined
	onChoose: (stepId: string | undefined) => void
}

/** The picture of a workflow, or the list of its steps, with the settings of the chosen step beside it. */
export function Editor({ workflow, draft, check, isList, chosen, onChoose }: Props) {
	const { graph, change } = draft
	const names = useNames(graph.steps, workflow.steps)
	const marks = useMarks(workflow, graph, check)
	const summaries = useMemo(
		() => new Map(graph.steps.map((step) => [step.id, summaryOf(step, graph, names)])),
		[graph, names],
	)
	const [opening, setOpening] = useState<Opening>()
	const step = graph.steps.find(({ id }) => id === chosen)
	const here = marks.get(chosen ?? '')?.here ?? 0
	const remove = useRemoval(draft, step, here, () => onChoose(undefined))
	const connectTo = useCallback(
		(from: Opening, toStepId: string) => change(connect(graph, from, toStepId)),
		[graph, change],
	)
	const edit = useMemo(() => ({ add: setOpening, connect: connectTo }), [connectTo])
	useEditorKeys(draft, step && step.type !== 'TRIGGER' ? remove : undefined)
	function add(type: StepType) {
		const added = addStep(graph, opening!, type)
		change(added.graph)
		setOpening(undefined)
		onChoose(added.step.id)
	}
	return (
		<div className={styles.editor} data-open={step !== undefined}>
			{isList ? (
				<StepList {...{ graph, summaries, marks, chosen, onChoose }} />
			) : (
				<Suspense fallback={<Waiting rows={10} />}>
					<GraphPicture
						name="Steps of the workflow"
						{...{ graph, summaries, marks, chosen, onChoose, edit }}
					/>
				</Suspense>
			)}
			{step && (
				<StepPanel
					workflowId={workflow.id}
					returns={draft.returns}
					{...{ step, graph, check, here }}
					onChange={change}
					onAdd={setOpening}
					onDelete={remove}
					onClose={() => {
						onChoose(undefined)
						focusStep(step.id)
					}}
				/>
			)}
			<AddStep
				isOpen={opening !== undefined}
				place={`after “${graph.steps.find(({ id }) => id === opening?.stepId)?.name ?? ''}”`}
				onChoose={add}
				onClose={() => setOpening(undefined)}
			/>
		</div>
	)
}

/** Where the reader came from. */
const focusStep = (stepId: string) =>
	document.querySelector<HTMLElement>(`[data-step="${stepId}"]`)?.focus()

/** Asks before a step is deleted: what follows for its neighbours and for people who are there. */
function useRemoval(
	{ graph, change }: Draft,
	step: { id: string; name: string } | undefined,
	here: number,
	onRemoved: () => void,
) {
	const confirm = useConfirm()
	return () => {
		if (!step) return
		const next = nextAfterRemoval(graph, step.id)
		const target = graph.steps.find(({ id }) => id === next)?.name
		const ways = target
			? `The steps before it lead to “${target}” instead.`
			: 'The paths that lead to it end before it.'
		const people =
			here === 0
				? 'Nobody is at this step now.'
				: `${here === 1 ? '1 person is' : `${formatCount(here)} people are`} at this step now. They go on with the version that they started with.`
		const question = {
			title: `Delete the step “${step.name}”?`,
			body: `${ways} ${people}`,
			act: 'Delete step',
			isDestructive: true,
		}
		void confirm(question).then((isSure) => {
			if (!isSure) return
			change(removeStep(graph, step.id))
			onRemoved()
		})
	}
}
