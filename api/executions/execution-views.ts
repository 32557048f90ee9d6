import { Type } from '@fastify/type-provider-typebox'
import { stepTypes } from '../../db/automations/automation-definition.ts'
import { visitStatuses } from '../../db/executions/execution-step.ts'
import { executionStatuses } from '../../db/executions/execution.ts'
import {
	about,
	Component,
	ContactReference,
	Extended,
	Id,
	Json,
	Nullable,
	PathId,
	Reference,
	Timestamp,
} from '../schemas.ts'

const Text = Nullable(Type.String())

const StepName = Component('StepReference', {
	id: Id,
	name: Type.String(),
	type: Type.Enum([...stepTypes]),
})

export const Execution = Component('Execution', {
	id: Id,
	workflowId: Id,
	version: Type.Integer({ description: 'The version of the workflow that this execution runs' }),
	contactId: Nullable(Id),
	status: Type.Enum([...executionStatuses]),
	currentStepId: Nullable(Id),
	exitReason: Text,
	error: Text,
	context: Json,
	startedAt: Timestamp,
	completedAt: Nullable(Timestamp),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

export const ListedExecution = Extended('ListedExecution', [Execution], {
	contact: Nullable(ContactReference),
	currentStep: Nullable(StepName),
})

const StepExecution = Component('StepExecution', {
	id: Id,
	stepId: Id,
	step: Nullable(StepName),
	status: Type.Enum([...visitStatuses]),
	output: Nullable(Json),
	error: about(
		'Why the step failed. While a WEBHOOK step is being retried, why its latest call failed.',
		Text,
	),
	attempts: about(
		'For a WEBHOOK step: how many calls have ended so far. Null if there is none yet, and for other steps.',
		Nullable(Type.Integer()),
	),
	startedAt: Timestamp,
	completedAt: Nullable(Timestamp),
	wakesAt: Nullable(Timestamp),
})

export const DetailedExecution = Extended('ExecutionWithSteps', [ListedExecution], {
	workflow: Reference,
	stepExecutions: Type.Array(StepExecution, {
		description: 'The latest 1,000 in order, or fewer if their outputs exceed 4 MB',
	}),
})

export const WorkflowParams = Type.Object({ id: PathId('workflow') })
export const ExecutionParams = Type.Object({
	id: PathId('workflow'),
	executionId: PathId('execution'),
})
