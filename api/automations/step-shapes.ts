import { stepTypes, type StepType } from '../../db/automations/automation-definition.ts'
import { object, ref, type Shape, union } from '../docs/shape.ts'
import { Reference } from '../schemas.ts'
import { Transition } from './automation-views.ts'
import { Flat, Branched } from './step-conditions.ts'
import { forms } from './step-configs.ts'

// Steps as the document describes them: one shape for each type. `checkedConfig` is what checks them.

const names = {
	TRIGGER: 'Trigger',
	SEND_EMAIL: 'SendEmail',
	DELAY: 'Delay',
	WAIT_FOR_EVENT: 'WaitForEvent',
	CONDITION: 'Condition',
	WEBHOOK: 'Webhook',
	UPDATE_CONTACT: 'UpdateContact',
	EXIT: 'Exit',
} satisfies Record<StepType, string>

const purposes: Record<StepType, string> = {
	TRIGGER:
		'Where every execution starts. It is created with the workflow and has no configuration.',
	SEND_EMAIL: 'Sends a template to the contact, or to an address of your choice.',
	DELAY: 'Waits for a fixed time, at most 365 days.',
	WAIT_FOR_EVENT: 'Waits for an event of the contact, and continues by `event` or `timeout`.',
	CONDITION: 'Chooses a branch by the data of the contact.',
	WEBHOOK: 'Calls a URL of yours.',
	UPDATE_CONTACT: 'Changes the data or the subscription of the contact.',
	EXIT: 'Ends the execution.',
}

const addable = stepTypes.filter((type) => type !== 'TRIGGER')
const id = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const name = { type: 'string', minLength: 1, maxLength: 100, description: 'Shown in lists.' }
const position = {
	...object({ x: { type: 'number' }, y: { type: 'number' } }, ['x', 'y']),
	description: 'Where an editor draws the step.',
}
const at = object(
	{
		x: { type: 'number', description: 'The distance from the left.' },
		y: { type: 'number', description: 'The distance from the top.' },
	},
	['x', 'y'],
	{ description: 'Where an editor draws the step. Without it, below the others.' },
)
const templateId = {
	anyOf: [id, { type: 'null' }],
	description: 'The template to send. A step without one can’t be enabled.',
}
const configName = (type: StepType) => `${names[type]}Config`
const named = (types: readonly StepType[], name: (type: StepType) => string) =>
	Object.fromEntries(types.map((type) => [type, name(type)]))
const newSteps = named(addable, (type) => `New${names[type]}Step`)
const steps = named(stepTypes, (type) => `${names[type]}Step`)
const linkedSteps = named(stepTypes, (type) => `${names[type]}StepWithTransitions`)
const each = (named: Record<string, string>, make: (type: StepType) => Shape) =>
	Object.fromEntries(Object.entries(named).map(([type, name]) => [name, make(type as StepType)]))

const configs = Object.fromEntries(
	addable.map((type) => [
		configName(type),
		type === 'CONDITION'
			? {
					description:
						'One comparison with the branches yes and no, several comparisons with a branch each, or a condition with the branches yes and no.',
					anyOf: [ref('ComparisonConfig'), ref('BranchesConfig'), ref('Condition')],
				}
			: ({ ...forms[type as keyof typeof forms], description: purposes[type] } as Shape),
	]),
)

/** A step may be saved without a configuration: enabling the workflow requires it. */
const stored = (type: StepType) =>
	type === 'TRIGGER' ? ref('EmptyConfig') : { anyOf: [ref(configName(type)), ref('EmptyConfig')] }

const newStep = (type: StepType) =>
	object(
		{
			type: { type: 'string', const: type, description: purposes[type] },
			name,
			position: at,
			config: ref(configName(type)),
			...(type === 'SEND_EMAIL' && { templateId }),
			// A default here would make some generators require it.
			autoConnect: {
				type: 'boolean',
				description:
					'Link the newest step without an outgoing transition to this one. The default is true.',
			},
		},
		['type', 'name'],
		{ description: purposes[type] },
	)

const step = (type: StepType, more: Shape = {}) => {
	const properties = {
		id,
		workflowId: id,
		type: { type: 'string', const: type },
		name: { type: 'string' },
		position,
		config: stored(type),
		templateId: type === 'SEND_EMAIL' ? templateId : { type: 'null' },
		createdAt: time,
		updatedAt: time,
		...more,
	}
	return object(properties, Object.keys(properties), { description: purposes[type] })
}
const transitions = {
	activeExecutions: {
		type: 'integer',
		description: 'How many executions are at this step now, in any version.',
	},
	template: { anyOf: [Reference, { type: 'null' }] },
	outgoingTransitions: { type: 'array', items: Transition },
	incomingTransitions: { type: 'array', items: Transition },
}

export const stepShapes: Record<string, Shape> = {
	...configs,
	ComparisonConfig: Flat as unknown as Shape,
	BranchesConfig: Branched as unknown as Shape,
	EmptyConfig: object({}, [], {
		additionalProperties: false,
		description: 'The step is not configured yet.',
	}),
	StepConfig: {
		description: 'The configuration of a step. Which form applies depends on the type of the step.',
		anyOf: addable.map((type) => ref(configName(type))),
	},
	...each(newSteps, newStep),
	NewStep: union('type', newSteps, 'A step to add. Its type never changes.'),
	...each(steps, (type) => step(type)),
	Step: union('type', steps, 'A step of a workflow.'),
	...each(linkedSteps, (type) => step(type, transitions)),
	StepWithTransitions: union('type', linkedSteps, 'A step with the transitions to and from it.'),
}
