import { useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { List, Redo2, Undo2, Workflow as Picture } from 'lucide-react'
import type { WorkflowWithSteps } from '../../client/index.ts'
import { discardQuestion } from '../editor/discard-question.ts'
import { SaveNotices } from '../editor/save-notices.tsx'
import { Button, IconButton } from '../parts/button.tsx'
import { useConfirm } from '../parts/confirm.tsx'
import { Fault } from '../parts/fault.tsx'
import { Soft } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useProject } from '../shell/projects.ts'
import { actOn, useIsActing } from './act-on-workflow.ts'
import { Editor } from './editor.tsx'
import styles from './editor.module.css'
import { type Graph, inputOf, isUnfinished } from './graph.ts'
import { graphFault } from './graph-fault.ts'
import { Problems } from './problems.tsx'
import { publishQuestion } from './publish-question.ts'
import type { Check } from './use-check.ts'
import type { Draft } from './use-draft.ts'
import { usePassage } from './workflow-queries.ts'

const route = getRouteApi('/console/$projectId/workflows/$workflowId')

interface Props {
	workflow: WorkflowWithSteps
	draft: Draft
	check: Check | undefined
	checkError: unknown
}

/** The editor, with what is to be saved above it. */
export function EditorPanel({ workflow, draft, check, checkError }: Props) {
	const { view, step } = route.useSearch()
	const navigate = route.useNavigate()
	const choose = (stepId: string | undefined) =>
		void navigate({ search: (old) => ({ ...old, step: stepId }), replace: true })
	const save = useSaving(workflow, draft)
	const act = workflow.enabled ? 'Publish' : 'Save'
	const isRefused = workflow.enabled && check?.isValid === false
	const confirm = useConfirm()
	async function discard() {
		if (await confirm(discardQuestion('workflow'))) draft.discard()
	}
	return (
		<>
			<div className={styles.bar}>
				<Problems graph={draft.graph} check={check} onChoose={choose} />
				<div className={styles.end}>
					<IconButton
						name="Undo"
						icon={<Undo2 size={16} />}
						onClick={draft.undo}
						disabled={!draft.undo}
					/>
					<IconButton
						name="Redo"
						icon={<Redo2 size={16} />}
						onClick={draft.redo}
						disabled={!draft.redo}
					/>
					<Button
						kind="quiet"
						icon={view === 'list' ? <Picture size={15} /> : <List size={15} />}
						onClick={() =>
							void navigate({
								search: (old) => ({ ...old, view: view === 'list' ? undefined : 'list' }),
								replace: true,
							})
						}
					>
						{view === 'list' ? 'Show as picture' : 'Show as list'}
					</Button>
					{draft.isChanged && (
						<>
							<Button onClick={() => void discard()}>Discard changes</Button>
							<Button
								kind="primary"
								onClick={save.ask}
								isBusy={save.isBusy}
								disabled={isRefused}
								title={isRefused ? 'Mend the marked steps first' : undefined}
							>
								{act}
							</Button>
						</>
					)}
				</div>
			</div>
			<div className={styles.said}>
				<Fault error={checkError} />
				<SaveNotices
					noun="workflow"
					act={act}
					error={graphFault(save.error, 'Not saved: mend the marked steps first')}
					work={draft}
					isBusy={save.isBusy}
					onOverwrite={save.askOver}
					onReload={save.forget}
				/>
			</div>
			<Editor
				{...{ workflow, draft, check }}
				isList={view === 'list'}
				chosen={step}
				onChoose={choose}
			/>
			<PassageNote workflowId={workflow.id} />
		</>
	)
}

function PassageNote({ workflowId }: { workflowId: string }) {
	const { data } = usePassage(workflowId)
	if (!data || data.isWhole) return null
	return <Soft>“Passed” and “failed” count the newest 10,000 people.</Soft>
}

/** All changes are saved together: they make one version of an enabled workflow. */
function useSaving(workflow: WorkflowWithSteps, draft: Draft) {
	const { project, api } = useProject()
	const queries = useQueryClient()
	const confirm = useConfirm()
	const toast = useToast()
	const { mutate, error, reset } = useMutation({
		...actOn(workflow.id),
		mutationFn: ({ graph, base }: { graph: Graph; base: string }) =>
			api.workflows.replaceGraph(workflow.id, inputOf(graph), { unchangedSince: base }),
		onSuccess: async ({ enabled, version, updatedAt }, { graph }) => {
			await queries.invalidateQueries({ queryKey: [project.id, 'workflows'] })
			draft.save(graph, updatedAt)
			const said = graph.steps.some(isUnfinished) ? 'Saved, except what is not finished' : 'Saved'
			toast({ title: enabled ? `Published. New people get version ${version}` : said })
		},
		// Someone else may have changed it.
		onError: () => queries.invalidateQueries({ queryKey: [project.id, 'workflows', workflow.id] }),
	})
	async function ask(base: string) {
		const { graph } = draft
		const question = publishQuestion(workflow, graph)
		if (!question || (await confirm(question))) mutate({ graph, base })
	}
	return {
		ask: () => void ask(draft.base),
		/** Over the newest version, which the page has loaded after the refusal. */
		askOver: () => void ask(workflow.updatedAt),
		forget: reset,
		error,
		isBusy: useIsActing(workflow.id),
	}
}
