import type { Condition, Operator } from '../conditions/condition.ts'

// One version of an automation: complete, checked, and with all defaults written out, so that its meaning
// never changes while executions use it.

export interface AutomationDefinition {
	trigger: Trigger
	allowReentry: boolean
	/** Exactly one step is the TRIGGER. */
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
		/** Only SEND_EMAIL steps have a template. */
		templateId: Type extends 'SEND_EMAIL' ? string : null
	}
}[StepType]

export interface DefinedTransition {
	fromStepId: string
	toStepId: string
	/**
	 * null: the step has only one way on. CONDITION: yes or no; with several branches, an id or `default`.
	 */
	branch: string | null
	priority: number
}

export interface StepConfigs {
	TRIGGER: Record<string, never>
	SEND_EMAIL: { recipient: { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string } }
	DELAY: { amount: number; unit: DelayUnit }
	/** `timeout` in seconds; null: no time limit. */
	WAIT_FOR_EVENT: { eventName: string; timeout: number | null; since: WaitSince }
	CONDITION: FlatCondition | BranchedCondition | Condition
	WEBHOOK: {
		/** A Liquid template, like the values of `headers` and every string in `body`. */
		url: string
		method: WebhookMethod
		headers: Record<string, string>
		/** null: sends contact, workflow, execution and event. */
		body: unknown
		/** Seconds. */
		retryFor: number
		continueOnError: boolean
	}
	/** Strings in `data` are Liquid templates; null: leaves the subscription unchanged. */
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

/** Operators that are evaluated in memory; the others query the database about a contact. */
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

/** The first word of a flat condition's field: `event.plan`, `steps.Ask the shop.statusCode`. */
export const flatRoots = ['contact', 'data', 'event', 'workflow', 'execution', 'steps'] as const

/** Its branches are yes and no. */
export interface FlatCondition {
	field: string
	operator: FlatOperator
	value?: unknown
}

/** Takes the first branch that is true, else `default`. */
export interface BranchedCondition {
	mode: 'multi'
	field: string
	branches: { id: string; name: string; operator: FlatOperator; value?: unknown }[]
}

export const isBranched = (config: StepConfigs['CONDITION']): config is BranchedCondition =>
	'mode' in config
export const isTree = (config: StepConfigs['CONDITION']): config is Condition => 'groups' in config
