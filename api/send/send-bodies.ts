import { Type } from '@fastify/type-provider-typebox'
import type { Acceptance } from '../../db/emails/acceptance-groups.ts'
import { type FieldError, invalid } from '../errors.ts'
import { acceptMessages, type Asked, type Message, type SendOptions } from './send-acceptance.ts'
import type { PlannedMessage } from './send-mails.ts'
import { example, SendBody } from './send-request.ts'

export const mostMessages = 100
/** As many as one message may have. */
const mostRecipients = 1000

export const BatchBody = Type.Array(SendBody, {
	minItems: 1,
	maxItems: mostMessages,
	description: `1 to ${mostMessages} messages, each as in POST /v1/send`,
	examples: [[example, { ...example, to: 'bob@example.org' }]],
})

interface Kind {
	schema: object
	/** The messages of a body, whose faults are those of the schema. */
	messagesOf(body: unknown, faults: FieldError[]): Message[]
	/** The answer's data, without its time. */
	dataOf(messages: SentMail[][]): object
}

/** The bodies of the two routes. */
export const bodies = {
	one: {
		schema: SendBody,
		messagesOf: (body, faults) => [{ at: '', body: body as SendBody, faults }],
		dataOf: ([emails]) => ({ emails: emails! }),
	},
	batch: {
		schema: BatchBody,
		messagesOf: messagesOfBatch,
		dataOf: (messages) => ({ results: messages.map((emails) => ({ emails })) }),
	},
} satisfies Record<string, Kind>

type DataOf<Name extends keyof typeof bodies> = ReturnType<(typeof bodies)[Name]['dataOf']>

/** Takes a parsed body to its answer: the request is refused, or written as a whole. */
export function acceptBody<Name extends keyof typeof bodies>(
	name: Name,
	acceptance: Acceptance,
	asked: Asked,
	body: unknown,
	faults: FieldError[],
	options: SendOptions,
) {
	const { messagesOf, dataOf } = bodies[name] as (typeof bodies)[Name] & Kind
	return acceptMessages(acceptance, asked, messagesOf(body, faults), options, (messages) => {
		const timestamp = new Date()
		const data = dataOf(messages.map(sentMails)) as DataOf<Name>
		const stored = dataOf(messages.map(withoutAddresses))
		return {
			answer: { success: true as const, data: { ...data, timestamp } },
			stored: { success: true, data: { ...stored, timestamp } },
		}
	})
}

interface SentMail {
	contact: { id: string; email: string }
	email: string
	/** Absent for a mail that is sent now. */
	status?: 'SCHEDULED' | 'THROTTLED'
	scheduledFor?: Date
}

const sentMails = ({ outcomes, scheduledFor }: PlannedMessage): SentMail[] =>
	outcomes.map(({ id, contactId, to, isThrottled }) => ({
		contact: { id: contactId, email: to },
		email: id,
		...(isThrottled
			? { status: 'THROTTLED' as const }
			: scheduledFor && { status: 'SCHEDULED' as const, scheduledFor }),
	}))

/** For the record of the idempotency key, which outlives an erased address: see db/idempotency-key.ts. */
const withoutAddresses = (message: PlannedMessage) =>
	sentMails(message).map(({ contact, ...rest }) => ({
		contact: { id: contact.id },
		...rest,
	})) as SentMail[]

/** A fault of the list itself ends the matter; others belong to their messages. */
function messagesOfBatch(body: unknown, faults: FieldError[]): Message[] {
	const own = faults.filter(({ field }) => !/^\d+(\.|$)/.test(field))
	if (own.length > 0) throw invalid(...own)
	const list = body as SendBody[]
	const recipients = list.map(recipientsOf).reduce((sum, count) => sum + count, 0)
	if (recipients > mostRecipients)
		throw invalid({
			field: '',
			message: `must have at most ${mostRecipients} recipients in all messages together`,
			code: 'too_big',
			received: recipients,
		})
	return list.map((message, index) => ({
		at: `${index}.`,
		body: message,
		faults: faults.flatMap(({ field, ...fault }) => {
			const [place, ...rest] = field.split('.')
			return Number(place) === index ? { ...fault, field: rest.join('.') } : []
		}),
	}))
}

/** The schema may have found other faults in this message. */
const recipientsOf = (message: Partial<SendBody> | null) =>
	Array.isArray(message?.to) ? message.to.length : 1
