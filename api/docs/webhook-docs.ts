import Type from 'typebox'
import {
	eventPayload,
	exampleTime,
	webhookPayloads,
} from '../webhook-endpoints/webhook-payloads.ts'
import { Timestamp } from '../schemas.ts'
import { ref, type Shape } from './shape.ts'

/** `EmailSentWebhook` for `email.sent`: the name of a webhook's body in generated clients. */
const componentName = (type: string) =>
	`${type
		.split('.')
		.map((word) => word[0]!.toUpperCase() + word.slice(1))
		.join('')}Webhook`

const typed = Object.entries(webhookPayloads).map(([type, payload]) => ({
	...payload,
	name: type,
	component: componentName(type),
	typeSchema: Type.Literal(type) as object,
	exampleType: type,
}))

const all = [
	...typed,
	{
		...eventPayload,
		name: 'event.{name}',
		component: 'EventWebhook',
		typeSchema: { type: 'string', pattern: '^event\\.' },
		exampleType: 'event.signup',
	},
]

const header = (name: string, description: string) => ({
	name,
	in: 'header' as const,
	required: true,
	description,
	schema: { type: 'string' as const },
})

const signed = [
	header('webhook-id', 'The id of the event: the same at every try and on replay'),
	header('webhook-timestamp', 'The time of this try, in seconds'),
	header(
		'webhook-signature',
		'Signatures of Standard Webhooks, separated by spaces; one must be valid',
	),
]

/** All requests to webhook endpoints, as `webhooks` of the OpenAPI document. */
export const documentedWebhooks = () =>
	Object.fromEntries(all.map((webhook) => [webhook.name, { post: documentedWebhook(webhook) }]))

function documentedWebhook({
	component,
	typeSchema,
	exampleType,
	summary,
	data,
	example,
}: (typeof all)[number]) {
	const type = Type.Unsafe<string>(typeSchema)
	const body = Type.Object(
		{ type, timestamp: Timestamp, data: Type.Object(data) },
		{ title: component, description: summary },
	)
	return {
		operationId: `receive${component.replace(/Webhook$/, '')}`,
		tags: ['webhook endpoints'],
		summary,
		security: [],
		parameters: signed,
		requestBody: {
			required: true,
			content: {
				'application/json': {
					schema: body,
					example: { type: exampleType, timestamp: exampleTime, data: example },
				},
			},
		},
		responses: {
			'2XX': { description: 'Received. Any other answer is tried again' },
			'410': { description: 'Not wanted any more: the endpoint is disabled' },
		},
	}
}

/** The body of a webhook, for a client that receives them. */
export const webhookShapes: Record<string, Shape> = {
	WebhookEvent: {
		description: 'The body of a webhook. `type` says which.',
		anyOf: all.map(({ component }) => ref(component)),
	},
}
