import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { TempostError, type WorkflowCheck, type WorkflowWithSteps } from '../../client/index.ts'
import { useIsDeleting } from '../parts/deletion.ts'
import { useProject } from '../shell/projects.ts'
import { type Graph, inputOf } from './graph.ts'
import { kinds } from './step-kinds.ts'
import type { Draft } from './use-draft.ts'

const pauseMs = 400

/** What keeps the workflow, as it is edited, from being enabled. Asked once the editor pauses. */
export function useCheck(workflow: WorkflowWithSteps, { graph, isChanged }: Draft) {
	const { project, api } = useProject()
	const [settled, setSettled] = useState({ graph, isChanged })
	useEffect(() => {
		const timer = setTimeout(() => setSettled({ graph, isChanged }), isChanged ? pauseMs : 0)
		return () => clearTimeout(timer)
	}, [graph, isChanged])
	const { data, error } = useQuery({
		queryKey: [
			project.id,
			'workflows',
			workflow.id,
			'check',
			settled.isChanged ? settled.graph : workflow.updatedAt,
		],
		queryFn: () =>
			settled.isChanged
				? api.workflows.validateGraph(workflow.id, inputOf(settled.graph))
				: api.workflows.validate(workflow.id),
		enabled: !useIsDeleting(workflow.id),
		placeholderData: (previous) => previous,
		gcTime: 0,
	})
	const check = useMemo(() => data && withUnfinished(data, graph), [data, graph])
	return { check, error, isCurrent: settled.graph === graph }
}
export type Check = WorkflowCheck

/** The API has not seen what can't be read yet. */
function withUnfinished(check: WorkflowCheck, { steps }: Graph): WorkflowCheck {
	const errors = steps.flatMap(({ id: stepId, name, unfinished = {} }) =>
		Object.entries(unfinished).map(([field, { message }]) => ({
			stepId,
			name,
			field,
			message,
			code: 'custom' as const,
		})),
	)
	if (errors.length === 0) return check
	return { ...check, isValid: false, errors: [...check.errors, ...errors] }
}

/** The faults of a step as the fields of its form show them. */
export function faultOfStep(check: Check | undefined, stepId: string) {
	const faults = (check?.errors ?? []).filter((fault) => fault.stepId === stepId)
	const [first] = faults
	if (!first) return undefined
	const fields = faults.map(({ field, message }) => ({ field, message, code: 'custom' as const }))
	return new TempostError('VALIDATION_ERROR', first.message, { fields })
}

/** A fault at its step in words. */
export function faultInWords({ stepId, field, message, code }: CheckFault, { steps }: Graph) {
	if (field === '') return `It ${message}`
	const type = steps.find(({ id }) => id === stepId)?.type
	const missing = code === 'required' && isSetting(field) && type && kinds[type].missing
	return missing || `${lastPart(field)} ${message}`
}
type CheckFault = Check['errors'][number]

const isSetting = (field: string) => field === 'config' || field === 'templateId'
const lastPart = (field: string) => {
	const words = field
		.slice(field.lastIndexOf('.') + 1)
		.replaceAll(/([A-Z])/g, ' $1')
		.toLowerCase()
	return words.charAt(0).toUpperCase() + words.slice(1)
}
