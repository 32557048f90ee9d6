import Type from 'typebox'
import { stepTypes } from '../../db/automations/automation-definition.ts'
import type {
	DetailedStep,
	StepRecord,
	TransitionRecord,
} from '../../db/automations/automation-graph-records.ts'
import type { Draft } from '../../db/automations/automation-graph.ts'
import type { AutomationRecord } from '../../db/automations/automation-records.ts'
import { triggerTypes } from '../../db/automations/automation.ts'
import { Component, Extended, Id, Json, Nullable, Reference, Timestamp } from '../schemas.ts'

// An automation, its steps and its transitions as the API shows them.

export const Automation = Component('Workflow', {
	id: Id,
	projectId: Id,
	name: Type.String(),
	description: Nullable(Type.String()),
	enabled: Type.Boolean(),
	triggerType: Type.Enum([...triggerTypes]),
	triggerConfig: Nullable(
		Component('TriggerConfig', {
			eventName: Type.Optional(Type.String()),
			schedule: Type.Optional(Type.String()),
			timezone: Type.Optional(Type.String()),
			segmentId: Type.Optional(Id),
		}),
	),
	allowReentry: Type.Boolean(),
	version: Nullable(
		Type.Integer({
			description: 'The version that new executions use; null if none has been frozen yet',
		}),
	),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

export const Step = Component('Step', {
	id: Id,
	workflowId: Id,
	type: Type.Enum([...stepTypes]),
	name: Type.String(),
	position: Type.Object({ x: Type.Number(), y: Type.Number() }),
	config: Json,
	templateId: Nullable(Id),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

export const Transition = Component('Transition', {
	id: Id,
	fromStepId: Id,
	toStepId: Id,
	branch: Nullable(Type.String()),
	condition: Nullable(Type.Object({ branch: Type.String() })),
	priority: Type.Integer(),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

export const Detailed = Extended('WorkflowWithSteps', [Automation], {
	steps: Type.Array(
		Extended('StepWithTransitions', [Step], {
			template: Nullable(Reference),
			activeExecutions: Type.Integer({
				description:
					'How many executions are at this step now, in any version. GET /workflows/{id}/executions?stepId= lists them.',
			}),
			outgoingTransitions: Type.Array(Transition),
			incomingTransitions: Type.Array(Transition),
		}),
	),
	transitions: Type.Array(Transition),
})

export const Warning = Component('WorkflowWarning', {
	stepId: Id,
	name: Type.String(),
	message: Type.String(),
})

export const Check = Component('WorkflowCheck', {
	isValid: Type.Boolean({ description: 'Whether the workflow can be enabled.' }),
	errors: Type.Array(
		Component('WorkflowFault', {
			stepId: Nullable(Id),
			name: Nullable(Type.String()),
			field: Type.String({
				description:
					'The member of the step, or of the workflow if there is no step. Empty: the connections of the step.',
			}),
			message: Type.String(),
			code: Type.String(),
		}),
	),
	warnings: Type.Array(Warning, { description: 'Legal, but probably a mistake' }),
})

export const Changed = Extended('ChangedWorkflow', [Automation], {
	warnings: Type.Array(Warning, {
		description: 'For an enabled workflow: what is probably a mistake',
	}),
})

type Viewed = Omit<AutomationRecord, 'scheduledSince'>

export const viewOfAutomation = ({ currentVersion, ...automation }: Viewed) => ({
	...automation,
	triggerConfig: triggerConfigOf(automation),
	version: currentVersion,
})

function triggerConfigOf(columns: Omit<Viewed, 'currentVersion'>) {
	const { triggerType, eventName, schedule, timezone, segmentId } = columns
	if (triggerType === 'MANUAL') return null
	const config = triggerType === 'EVENT' ? { eventName } : { schedule, timezone, segmentId }
	return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== null))
}

export const viewOfStep = ({ automationId, x, y, ...step }: StepRecord) => ({
	...step,
	position: { x, y },
	workflowId: automationId,
})

export const viewOfTransition = (transition: TransitionRecord) => ({
	...transition,
	condition: transition.branch === null ? null : { branch: transition.branch },
})

type DetailedDraft = Omit<Draft, 'steps'> & { steps: DetailedStep[] }

export function viewOfDraft(
	{ automation, steps, transitions }: DetailedDraft,
	active: ReadonlyMap<string, number>,
) {
	const ways = transitions.map(viewOfTransition)
	return {
		...viewOfAutomation(automation),
		steps: steps.map((step) => ({
			...viewOfStep(step),
			template: step.template,
			activeExecutions: active.get(step.id) ?? 0,
			outgoingTransitions: ways.filter(({ fromStepId }) => fromStepId === step.id),
			incomingTransitions: ways.filter(({ toStepId }) => toStepId === step.id),
		})),
		transitions: ways,
	}
}
