import Type from 'typebox'
import { executionStatuses } from '../../db/executions/execution.ts'
import { about, Email, Id, PageNumber } from '../schemas.ts'
import type { Page } from './answers.ts'
import { briefData, briefText, counted, only, viewed } from './brief.ts'
import { contactOf } from './people.ts'
import { path } from './route-calls.ts'
import { defineTool, reading } from './tool.ts'

interface Workflow {
	id: string
	name: string
	description: string | null
	enabled: boolean
	triggerType: string
	triggerConfig: object | null
	allowReentry: boolean
	version: number | null
	updatedAt: string
}
interface Step {
	id: string
	type: string
	name: string
	config: unknown
	template: { id: string; name: string } | null
	activeExecutions: number
	outgoingTransitions: { toStepId: string; branch: string | null }[]
}
interface Execution {
	id: string
	workflowId: string
	version: number
	status: string
	currentStep: { id: string; name: string; type: string } | null
	contact: { id: string; email: string } | null
	exitReason: string | null
	error: string | null
	startedAt: string
	completedAt: string | null
}
interface DetailedExecution extends Execution {
	context: unknown
	workflow: { id: string; name: string }
	stepExecutions: {
		step: { id: string; name: string; type: string } | null
		status: string
		output: unknown
		error: string | null
		attempts: number | null
		startedAt: string
		completedAt: string | null
		wakesAt: string | null
	}[]
}

const outline = (workflow: Workflow) =>
	only(
		workflow,
		'id',
		'name',
		'enabled',
		'triggerType',
		'triggerConfig',
		'allowReentry',
		'updatedAt',
	)

export const listWorkflows = defineTool({
	name: 'list_workflows',
	title: 'List workflows',
	description:
		'Lists workflows, the automations that take each contact through steps such as mails, delays and conditions. With workflowId: that workflow with its steps, how they are connected, and how many contacts are at each now.',
	annotations: reading,
	input: {
		workflowId: Type.Optional(about('One workflow.', Id)),
		search: Type.Optional(
			Type.String({ maxLength: 200, description: 'A part of the name or description.' }),
		),
		page: Type.Optional(PageNumber),
	},
	async run({ workflowId, ...query }, { ask }) {
		if (workflowId === undefined) {
			const found = await ask<Page<Workflow>>('GET', '/workflows', {
				query: { ...query, pageSize: 20 },
			})
			const { page, total, totalPages } = found
			return {
				text: `${counted(total, 'workflow')} found.`,
				data: { workflows: found.data.map(outline), page, total, totalPages },
			}
		}
		const found = await ask<Workflow & { steps: Step[] }>('GET', path`/workflows/${workflowId}`)
		const steps = await viewed(found.steps, (step) => ({
			...only(step, 'id', 'type', 'name', 'template', 'activeExecutions'),
			config: briefData(step.config),
			next: step.outgoingTransitions.map(({ toStepId, branch }) => ({ toStepId, branch })),
		}))
		return {
			text: `The workflow is ${found.enabled ? 'enabled' : 'not enabled'} and has ${counted(steps.length, 'step')}.`,
			data: { workflow: outline(found), steps },
		}
	},
})

/** The latest visits of a path, which may have run in circles. */
const mostVisits = 50

export const explainExecution = defineTool({
	name: 'explain_execution',
	title: 'Explain how a contact went through a workflow',
	description:
		'Shows the path of one execution: each step it has been at, with its result or error, where it is now and until when it waits. Give executionId, or the address of a contact to get that contact’s newest execution. With neither, it lists the newest executions of the workflow, for example those that failed (status FAILED).',
	annotations: reading,
	input: {
		workflowId: about('The workflow. list_workflows finds it.', Id),
		executionId: Type.Optional(about('The execution.', Id)),
		address: Type.Optional(about('The contact. Used if there is no executionId.', Email)),
		status: Type.Optional(
			about('List only executions with this status.', Type.Enum([...executionStatuses])),
		),
	},
	async run({ workflowId, executionId, address, status }, context) {
		const { ask } = context
		if (executionId === undefined) {
			const contact = address === undefined ? null : await contactOf(context, { address })
			const query = { status, contactId: contact?.id, pageSize: contact ? 1 : 10 }
			const found = await ask<Page<Execution>>('GET', path`/workflows/${workflowId}/executions`, {
				query,
			})
			const [newest] = found.data
			if (!contact || !newest)
				return {
					text: `${counted(found.total, 'execution')} found.`,
					data: { executions: found.data.map(outlineExecution), total: found.total },
				}
			executionId = newest.id
		}
		const execution = await ask<DetailedExecution>(
			'GET',
			path`/workflows/${workflowId}/executions/${executionId}`,
		)
		const visits = execution.stepExecutions
		return {
			text: `The execution is ${execution.status} after ${counted(visits.length, 'step')}.`,
			data: {
				execution: {
					...outlineExecution(execution),
					workflow: execution.workflow,
					context: briefData(execution.context),
				},
				path: await viewed(visits.slice(-mostVisits), (visit) => ({
					...only(visit, 'step', 'status', 'attempts', 'startedAt', 'completedAt', 'wakesAt'),
					error: visit.error && briefText(visit.error),
					output: briefData(visit.output),
				})),
			},
		}
	},
})

const outlineExecution = (execution: Execution) => ({
	...only(execution, 'id', 'workflowId', 'version', 'status', 'currentStep', 'contact'),
	...only(execution, 'exitReason', 'startedAt', 'completedAt'),
	error: execution.error && briefText(execution.error),
})
