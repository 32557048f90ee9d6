import type { Condition, Operator } from '../conditions/condition.ts'

// What a version of an automation is: complete, checked, with every default written out, so that it
// means the same for as long as executions run by it.

export interface AutomationDefinition {
	trigger: Trigger
	allowReentry: boolean
	/** Exactly one of them is the TRIGGER. */
	steps: DefinedStep[]
	transitions: DefinedTransition[]
}

export type Trigger =
	| { type: 'EVENT'; eventName: string }
	| { type: 'MANUAL' }
	| { type: 'SCHEDULE'; schedule: string; timezone: string; segmentId: string | null }

export const stepTypes = [
	'TRIGGER',
	'SEND_EMAIL',
	'DELAY',
	'WAIT_FOR_EVENT',
	'CONDITION',
	'WEBHOOK',
	'UPDATE_CONTACT',
	'EXIT',
] as const
export type StepType = (typeof stepTypes)[number]

export type DefinedStep = {
	[Type in StepType]: {
		id: string
		type: Type
		name: string
		config: StepConfigs[Type]
		/** A SEND_EMAIL step has one, no other step has. */
		templateId: Type extends 'SEND_EMAIL' ? string : null
	}
}[StepType]

export interface DefinedTransition {
	fromStepId: string
	toStepId: string
	/** null: the step has but one way on. CONDITION: yes, no; of several branches, an id or default. */
	branch: string | null
	priority: number
}

export interface StepConfigs {
	TRIGGER: Record<string, never>
	SEND_EMAIL: { recipient: { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string } }
	DELAY: { amount: number; unit: DelayUnit }
	/** `timeout` in seconds; null: for ever. */
	WAIT_FOR_EVENT: { eventName: string; timeout: number | null; since: WaitSince }
	CONDITION: FlatCondition | BranchedCondition | Condition
	WEBHOOK: {
		/** As the values of `headers` and every string in `body`, a Liquid template. */
		url: string
		method: WebhookMethod
		headers: Record<string, string>
		/** null: contact, workflow, execution and event. */
		body: unknown
		/** Seconds. */
		retryFor: number
		continueOnError: boolean
	}
	/** Strings in `data` are Liquid templates; null: the subscription stays as it is. */
	UPDATE_CONTACT: { data: Record<string, unknown>; subscribed: boolean | null }
	EXIT: { reason: string | null }
}

export const delayUnits = ['seconds', 'minutes', 'hours', 'days'] as const
export type DelayUnit = (typeof delayUnits)[number]
export const delayUnitSeconds: Record<DelayUnit, number> = {
	seconds: 1,
	minutes: 60,
	hours: 3600,
	days: 86_400,
}

export const waitSinces = ['step', 'start'] as const
export type WaitSince = (typeof waitSinces)[number]

export const webhookMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type WebhookMethod = (typeof webhookMethods)[number]

/** The operators that compare what is at hand; the others ask the database about a contact. */
export const flatOperators = [
	'equals',
	'notEquals',
	'contains',
	'notContains',
	'greaterThan',
	'lessThan',
	'greaterThanOrEqual',
	'lessThanOrEqual',
	'exists',
	'notExists',
] as const satisfies readonly Operator[]
export type FlatOperator = (typeof flatOperators)[number]

/** What a flat condition's field begins with: `event.plan`, `steps.Ask the shop.statusCode`. */
export const flatRoots = ['contact', 'data', 'event', 'workflow', 'execution', 'steps'] as const

/** Its branches are yes and no. */
export interface FlatCondition {
	field: string
	operator: FlatOperator
	value?: unknown
}

/** The first branch that holds is taken, else `default`. */
export interface BranchedCondition {
	mode: 'multi'
	field: string
	branches: { id: string; name: string; operator: FlatOperator; value?: unknown }[]
}

export const isBranched = (config: StepConfigs['CONDITION']): config is BranchedCondition =>
	'mode' in config
export const isTree = (config: StepConfigs['CONDITION']): config is Condition => 'groups' in config
