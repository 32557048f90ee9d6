import Type from 'typebox'
import { dataProblems } from '../../db/contacts/contact-data.ts'
import {
	delayUnits,
	delayUnitSeconds,
	type DelayUnit,
	type StepType,
	waitSinces,
} from '../../db/automations/automation-definition.ts'
import { type FieldError, invalid } from '../errors.ts'
import { EventName } from '../events/event-names.ts'
import { fieldErrors } from '../requests/field-errors.ts'
import { bodyFaults } from '../requests/validation.ts'
import { about, Id, isEmail, normalizeEmail, Nullable } from '../schemas.ts'
import { stepConditionProblems } from './step-conditions.ts'
import { templateProblems, Webhook, webhookProblems } from './step-webhooks.ts'

type Config = Record<string, unknown>

/** In a body, for the documentation; its members depend on the step's type. */
export const StepConfig = Type.Record(Type.String(), Type.Unknown(), { title: 'StepConfig' })

const maxLength = 64 * 1024
const maxErrors = 100
const maxDelaySeconds = 365 * 86_400
const maxWaitSeconds = 157_680_000

const closed = (properties: Record<string, Type.TSchema>) =>
	Type.Object(properties, { additionalProperties: false })
/** A missing member and null mean the same. */
const optional = <T extends Type.TSchema>(description: string, schema: T) =>
	Type.Optional(about(description, Nullable(schema)))

/** Other names for members of UPDATE_CONTACT. */
const aliases = { updates: 'data', subscriptionAction: 'subscribed' }
const subscriptionActions = { subscribe: true, unsubscribe: false, none: null } as const

/** The form of each type of configuration. Unknown members are refused as typos. */
export const forms: { [T in Exclude<StepType, 'CONDITION'>]: Type.TSchema } = {
	TRIGGER: closed({}),
	SEND_EMAIL: closed({
		templateId: optional('Another way to give the template of the step.', Id),
		recipient: optional(
			'The contact, unless you set it.',
			closed({
				type: Type.Enum(['CONTACT', 'CUSTOM'], {
					description: 'CONTACT: the contact of the execution. CUSTOM: another address.',
				}),
				customEmail: optional(
					'An address, or a Liquid template of one. Required with CUSTOM.',
					Type.String(),
				),
			}),
		),
	}),
	DELAY: closed({
		amount: Type.Number({
			exclusiveMinimum: 0,
			description: 'How many units to wait. At most 365 days.',
		}),
		unit: Type.Enum([...delayUnits], { description: 'The unit of `amount`.' }),
	}),
	WAIT_FOR_EVENT: closed({
		eventName: about('The event to wait for.', EventName),
		timeout: optional(
			'Seconds until the branch timeout is taken. Without it, the step waits for ever.',
			Type.Number({ minimum: 1, maximum: maxWaitSeconds }),
		),
		since: optional(
			'step: events count from the moment the latest mail, delay, wait or call before this step was reached. start: events since the start of the execution count.',
			Type.Enum([...waitSinces]),
		),
	}),
	WEBHOOK: Webhook,
	UPDATE_CONTACT: closed({
		data: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), {
				description:
					'Data to store on the contact. Strings are Liquid templates, and a null deletes a field.',
			}),
		),
		updates: Type.Optional(
			Type.Record(Type.String(), Type.Unknown(), { description: 'Another name for `data`.' }),
		),
		subscribed: optional('Subscribes or unsubscribes the contact.', Type.Boolean()),
		subscriptionAction: optional(
			'Another name for `subscribed`.',
			Type.Enum(Object.keys(subscriptionActions)),
		),
	}),
	EXIT: closed({
		reason: optional('Shown as `exitReason` of the execution.', Type.String({ maxLength: 500 })),
	}),
}

const formFaults = Object.fromEntries(
	Object.entries(forms).map(([type, form]) => [type, bodyFaults(form)]),
) as Record<keyof typeof forms, ReturnType<typeof bodyFaults>>

/**
 * A step's configuration in its stored form, or a 422 with all its faults. Aliases are resolved, and the
 * template is removed, because it is a member of the step.
 */
export async function checkedConfig(projectId: string, type: StepType, given: Config) {
	const errors = await configProblems(projectId, type, given, 'config')
	if (errors.length > 0) throw invalid(...errors.slice(0, maxErrors))
	return storedConfig(type, given)
}

/** A configuration without problems in its stored form. */
export function storedConfig(type: StepType, given: Config) {
	const { templateId, ...config } = type === 'CONDITION' ? given : normalized(type, given)
	return { config, templateId: templateId as string | undefined }
}

export async function configProblems(
	projectId: string,
	type: StepType,
	given: Config,
	path: string,
) {
	const errors =
		type === 'CONDITION'
			? stepConditionProblems(given, path)
			: await formProblems(projectId, type, given, path)
	if (errors.length === 0 && JSON.stringify(given).length > maxLength) return [tooBig(path)]
	return errors
}

const tooBig = (field: string): FieldError => ({
	field,
	message: `must be at most ${maxLength} characters of JSON`,
	code: 'too_big',
})

async function formProblems(
	projectId: string,
	type: keyof typeof forms,
	given: Config,
	path: string,
): Promise<FieldError[]> {
	const errors = fieldErrors(formFaults[type](given))
	if (errors.length > 0)
		return errors.map((error) => ({ ...error, field: `${path}.${error.field}` }))
	return (await problemsOf[type]?.(given, path, projectId)) ?? []
}

/** Rules that a form can't express. */
const problemsOf: Partial<
	Record<
		StepType,
		(given: Config, path: string, projectId: string) => FieldError[] | Promise<FieldError[]>
	>
> = {
	SEND_EMAIL({ recipient }, path, projectId) {
		const { type, customEmail } = (recipient ?? {}) as Partial<Recipient>
		const field = `${path}.recipient.customEmail`
		if (typeof customEmail === 'string') return addressProblems(projectId, customEmail, field)
		return type === 'CUSTOM' ? [{ field, message: 'is required', code: 'required' }] : []
	},
	DELAY({ amount, unit }, path) {
		const seconds = (amount as number) * delayUnitSeconds[unit as DelayUnit]
		if (seconds <= maxDelaySeconds) return []
		return [{ field: `${path}.amount`, message: 'must be at most 365 days', code: 'too_big' }]
	},
	WAIT_FOR_EVENT({ eventName }, path) {
		if ((eventName as string).trim() !== '') return []
		return [{ field: `${path}.eventName`, message: 'must not be empty', code: 'too_small' }]
	},
	WEBHOOK: (given, path, projectId) => webhookProblems(projectId, given as Webhook, path),
	async UPDATE_CONTACT(given, path, projectId) {
		const isGiven = (member: string) => given[member] !== undefined && given[member] !== null
		const doubles = Object.entries(aliases).filter((pair) => pair.every(isGiven))
		const member = isGiven('updates') ? 'updates' : 'data'
		const data = given[member] ?? {}
		return [
			...doubles.map(([alias, name]): FieldError => ({
				field: `${path}.${alias}`,
				message: `is another name for ${name}: give only one of them`,
				code: 'custom',
			})),
			...dataProblems(data, `${path}.${member}`),
			...(await templateProblems(projectId, data, `${path}.${member}`)),
		]
	},
}

interface Recipient {
	type: string
	customEmail?: string | null
}

function addressProblems(projectId: string, address: string, field: string) {
	if (isTemplate(address)) return templateProblems(projectId, address, field)
	if (isEmail(address)) return []
	const message = 'must be an email address, or a template of one such as {{ seller }}'
	return [{ field, message, code: 'invalid_string' as const }]
}

/** This address is known only after rendering. */
const isTemplate = (address: string) => /\{[{%]/.test(address)

function normalized(type: StepType, given: Config): Config {
	const config = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
	switch (type) {
		case 'SEND_EMAIL': {
			const { recipient } = config
			return recipient === undefined ? config : { ...config, recipient: recipientOf(recipient) }
		}
		case 'WAIT_FOR_EVENT':
			return { ...config, eventName: (config['eventName'] as string).trim() }
		case 'UPDATE_CONTACT': {
			const { updates, subscriptionAction, ...rest } = config
			const subscribed =
				subscriptionActions[subscriptionAction as keyof typeof subscriptionActions] ?? null
			return {
				...rest,
				...(updates === undefined ? {} : { data: updates }),
				...(subscribed === null ? {} : { subscribed }),
			}
		}
		default:
			return config
	}
}

function recipientOf(given: unknown) {
	const { type, customEmail } = given as Recipient
	if (type !== 'CUSTOM') return { type }
	const address = customEmail!
	// Lower-casing would change the names of variables.
	return { type, customEmail: isTemplate(address) ? address : normalizeEmail(address) }
}
