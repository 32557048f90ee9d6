import Type, { type TProperties } from 'typebox'
import type { WebhookType } from '../../db/webhooks/webhook-types.ts'
import { about, Id, Json, Nullable, Timestamp } from '../schemas.ts'

// The payloads of webhooks: db/webhooks/webhook-payload.ts composes what is described here.

interface Payload {
	summary: string
	data: TProperties
	example: object
}

const ids = {
	emailId: '0199b2a4-6d3e-7c51-9a0e-3f6f5b1c7d20',
	contactId: '0199b2a1-02c7-7f0b-8d11-5a4be0a5c3f1',
	campaignId: '0199b2a3-9f10-7a44-b1c2-d3e4f5a6b7c8',
	segmentId: '0199b2a0-4b6d-7e3c-9f55-0c1d2e3f4a5b',
	executionId: '0199b2a5-1c2d-7b3e-8f40-516273849506',
	workflowId: '0199b2a5-0a1b-7c2d-8e3f-405162738495',
	domainId: '0199b29f-7e6d-7c5b-8a49-382716050493',
	projectId: '0199b29e-1f2e-7d3c-8b4a-596877869504',
}
const at = '2026-11-23T09:30:00.000Z'

const mail = {
	emailId: Id,
	contactId: about('Null: the contact was deleted, or the mail has none', Nullable(Id)),
	email: about('The address of the recipient; for `email.received` of the sender', Type.String()),
	to: about('The address that the mail was sent to', Type.String()),
	from: Nullable(Type.String()),
	subject: about('Null: not rendered yet', Nullable(Type.String())),
	sourceType: Type.Enum(['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND']),
	templateId: Nullable(Id),
	campaignId: Nullable(Id),
	executionId: about('The workflow’s execution that sent it', Nullable(Id)),
	tags: Type.Optional(
		Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
			description: 'Those of the request',
		}),
	),
}
const mailExample = {
	emailId: ids.emailId,
	contactId: ids.contactId,
	email: 'ann@example.org',
	to: 'ann@example.org',
	from: 'hello@example.com',
	subject: 'Welcome',
	sourceType: 'TRANSACTIONAL',
	templateId: null,
	campaignId: null,
	executionId: null,
}
const ofMail = (summary: string, more: TProperties = {}, example: object = {}): Payload => ({
	summary,
	data: { ...mail, ...more },
	example: { ...mailExample, ...example },
})
/** Of a bounce or a complaint, which may be about a copy. */
const reported = {
	contactId: about(
		'Null: the contact was deleted, the mail has none, or the report is about a copy',
		Nullable(Id),
	),
	email: about('The address of the recipient or of the copy', Type.String()),
}
const reason = { error: about('The reason', Nullable(Type.String())) }

const contact = { contactId: Id, email: Type.String() }
const contactExample = { contactId: ids.contactId, email: 'ann@example.org' }
const personal = { ...contact, subscribed: Type.Boolean(), data: Json }
const personalExample = { ...contactExample, subscribed: true, data: { plan: 'pro' } }

const reader = {
	contactId: about('Null: the contact was deleted', Nullable(Id)),
	email: about('Null: the contact was deleted', Nullable(Type.String())),
}

const segment = { ...reader, segmentId: Id, segmentName: Type.String() }
const segmentExample = { ...contactExample, segmentId: ids.segmentId, segmentName: 'Customers' }

const campaign = {
	campaignId: Id,
	name: Type.String(),
	subject: Type.String(),
	totalRecipients: Type.Integer(),
}
const campaignExample = {
	campaignId: ids.campaignId,
	name: 'November news',
	subject: 'What is new',
	totalRecipients: 12_000,
}

const execution = { executionId: Id, workflowId: Id, workflowName: Type.String(), ...reader }
const executionExample = {
	executionId: ids.executionId,
	workflowId: ids.workflowId,
	workflowName: 'Onboarding',
	...contactExample,
}

/** Each type of webhook, in the order of the documentation. */
export const webhookPayloads: Record<WebhookType, Payload> = {
	'email.scheduled': ofMail(
		'A mail was accepted for a later time, or moved to another one',
		{ scheduledFor: Timestamp },
		{ scheduledFor: '2026-11-24T08:00:00.000Z' },
	),
	'email.sent': ofMail('The provider accepted the mail', { sentAt: Timestamp }, { sentAt: at }),
	'email.delivered': ofMail(
		'The recipient’s server accepted the mail',
		{ deliveredAt: Timestamp },
		{ deliveredAt: at },
	),
	'email.delayed': ofMail(
		'The mail was deferred for the first time, and will be tried again',
		reason,
		{
			error: '451 4.7.1 Try again later',
		},
	),
	'email.opened': ofMail(
		'A reader opened the mail',
		{ openedAt: Timestamp, opens: Type.Integer(), isFirstOpen: Type.Boolean() },
		{ openedAt: at, opens: 1, isFirstOpen: true },
	),
	'email.clicked': ofMail(
		'A reader clicked a link of the mail',
		{
			clickedAt: Timestamp,
			link: Nullable(Type.String()),
			clicks: Type.Integer(),
			isFirstClick: Type.Boolean(),
		},
		{ clickedAt: at, link: 'https://example.com/start', clicks: 1, isFirstClick: true },
	),
	'email.bounced': ofMail(
		'The mail bounced. Only a permanent bounce suppresses the address',
		{
			bouncedAt: Timestamp,
			bounceType: Type.Enum(['Permanent', 'Transient', 'Undetermined']),
			...reported,
			...reason,
		},
		{ bouncedAt: at, bounceType: 'Permanent', error: '550 5.1.1 No such user' },
	),
	'email.complained': ofMail(
		'The reader reported the mail as spam',
		{ complainedAt: Timestamp, ...reported },
		{ complainedAt: at },
	),
	'email.failed': ofMail('The mail could not be sent', reason, {
		error: '554 5.7.1 Message refused',
	}),
	'email.suppressed': ofMail(
		'The mail was not sent, because its address is on the suppression list',
		reason,
		{ error: 'The address is on the suppression list: BOUNCE' },
	),
	'email.cancelled': ofMail('The mail was not sent, for another reason', reason, {
		error: 'The campaign was cancelled',
	}),
	'email.uncertain': ofMail('It is not known whether the mail was sent', reason, {
		error: 'The worker went away between the hand-over and its record',
	}),
	'email.received': ofMail(
		'A mail arrived for a domain of the project',
		{ receivedAt: Timestamp, messageId: Nullable(Type.String()) },
		{
			from: 'ann@example.org',
			to: 'hello@example.com',
			subject: 'Re: Welcome',
			sourceType: 'INBOUND',
			receivedAt: at,
			messageId: '<41c0@example.org>',
		},
	),
	'contact.created': {
		summary: 'A contact was created',
		data: personal,
		example: personalExample,
	},
	'contact.updated': {
		summary: 'The address, the subscription or the data of a contact changed',
		data: personal,
		example: personalExample,
	},
	'contact.deleted': {
		summary: 'A contact was deleted',
		data: {
			contactId: Id,
			email: about(
				'`deleted@deleted.invalid` if the person was erased with it. So is the address in all webhooks that wait',
				Type.String(),
			),
		},
		example: contactExample,
	},
	'contact.subscribed': {
		summary: 'A contact subscribed',
		data: reader,
		example: contactExample,
	},
	'contact.unsubscribed': {
		summary: 'A contact unsubscribed',
		data: reader,
		example: contactExample,
	},
	'segment.entered': {
		summary: 'A contact became a member of a segment whose memberships are tracked',
		data: segment,
		example: segmentExample,
	},
	'segment.left': {
		summary: 'A contact is no longer a member of a segment whose memberships are tracked',
		data: segment,
		example: segmentExample,
	},
	'campaign.started': {
		summary: 'A campaign started',
		data: campaign,
		example: campaignExample,
	},
	'campaign.paused': {
		summary: 'A campaign was paused',
		data: {
			...campaign,
			reason: Nullable(Type.Enum(['OWNER', 'BILLING_LIMIT', 'FAULT', 'TEMPLATE', 'SENDER'])),
		},
		example: { ...campaignExample, reason: 'OWNER' },
	},
	'campaign.completed': {
		summary: 'All mails of a campaign are settled',
		data: campaign,
		example: campaignExample,
	},
	'campaign.cancelled': {
		summary: 'A campaign was cancelled',
		data: { ...campaign, reason: Nullable(Type.Enum(['OWNER', 'PROJECT_DISABLED'])) },
		example: { ...campaignExample, reason: 'OWNER' },
	},
	'execution.started': {
		summary: 'A contact entered a workflow',
		data: execution,
		example: executionExample,
	},
	'execution.completed': {
		summary: 'An execution reached its end or an exit step',
		data: { ...execution, exitReason: Nullable(Type.String()) },
		example: { ...executionExample, exitReason: null },
	},
	'execution.failed': {
		summary: 'An execution failed',
		data: { ...execution, ...reason },
		example: { ...executionExample, error: 'WebhookFailed: It answered 500' },
	},
	'execution.cancelled': {
		summary: 'An execution was cancelled',
		data: { ...execution, exitReason: Nullable(Type.String()) },
		example: { ...executionExample, exitReason: 'Contact deleted' },
	},
	'domain.verified': {
		summary: 'A domain is verified: mail can be sent from it',
		data: { domainId: Id, domain: Type.String() },
		example: { domainId: ids.domainId, domain: 'example.com' },
	},
	'domain.failed': {
		summary: 'A domain lost its verified status',
		data: { domainId: Id, domain: Type.String(), ...reason },
		example: { domainId: ids.domainId, domain: 'example.com', error: 'The DKIM record is missing' },
	},
	'project.suspended': {
		summary: 'The project was disabled: it sends nothing',
		data: {
			projectId: Id,
			reason: Type.Enum(['PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL']),
		},
		example: { projectId: ids.projectId, reason: 'EMAIL_REPUTATION' },
	},
}

/** The webhook of every tracked event. Its type has the event's name: `event.signup`. */
export const eventPayload: Payload = {
	summary: 'An event was tracked. The type ends with its name',
	data: {
		eventId: Id,
		name: Type.String(),
		...reader,
		emailId: Nullable(Id),
		data: about('The data that was tracked with it', Json),
	},
	example: {
		eventId: '0199b2a6-2d3e-7f40-8152-637485960718',
		name: 'signup',
		...contactExample,
		emailId: null,
		data: { plan: 'pro' },
	},
}

export const exampleTime = at
