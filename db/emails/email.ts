import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { mailTypes } from '../templates/template.ts'

/** In the order of a mail's life: a late provider event never moves it back from SENT to COMPLAINED. */
export const emailStatuses = [
	'PENDING',
	'SENDING',
	'UNCERTAIN',
	'SENT',
	'DELIVERED',
	'OPENED',
	'CLICKED',
	'BOUNCED',
	'COMPLAINED',
	'FAILED',
	'SUPPRESSED',
	'CANCELLED',
	'RECEIVED',
] as const

/** It may still go, or nobody knows yet whether it went. For the expression of a status. */
export const isUnsettled = (status: string) => `${status} in ('PENDING', 'SENDING', 'UNCERTAIN')`

export const sourceTypes = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const

/** What few mails come to, and what somebody who looks after them looks for. */
export const rareStatuses = [
	'UNCERTAIN',
	'BOUNCED',
	'COMPLAINED',
	'FAILED',
	'SUPPRESSED',
	'CANCELLED',
	'RECEIVED',
] as const

/** What stands in place of the address once its person was erased. Nothing goes there. */
export const erasedAddress = 'deleted@deleted.invalid'

/**
 * The ledger: one row a mail, whatever becomes of it. The row also carries the open attempt
 * (`attempt`, `attemptStartedAt` while SENDING); closed attempts are rows of `attempts`.
 * No index names `status`, so that its changes stay heap-only updates; `rareStatus`, which most mails
 * never have, is what mails are found by.
 */
const schema = defineEntity({
	name: 'Email',
	tableName: 'emails',
	indexes: [
		{
			name: 'emails_contact',
			properties: ['projectId', 'contactId', 'id'],
			where: 'contact_id is not null',
		},
		{
			name: 'emails_by_template',
			properties: ['projectId', 'templateId'],
			where: 'template_id is not null',
		},
		{
			name: 'emails_rare',
			properties: ['rareStatus', 'projectId', 'id'],
			where: 'rare_status is not null',
		},
		// By address, for erasing: mails that are nobody's, or were a deleted contact's.
		{
			name: 'emails_of_nobody',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, (case ${columns.sourceType} when 'INBOUND' then ${columns.from} else ${columns.to} end)) where ${columns.contactId} is null`,
		},
		// What is still to be purged: no mail without a body is in it.
		{
			name: 'emails_with_body',
			properties: ['createdAt'],
			where: 'body is not null',
		},
		// A campaign's mails that wait for their next try. No other mail of a campaign has a time.
		{
			name: 'emails_campaign_due',
			properties: ['campaignId', 'dueAt'],
			where: 'campaign_id is not null and due_at is not null',
		},
	],
	uniques: [
		// One mail a contact, and the order in which a campaign's lanes go through them.
		{
			name: 'emails_campaign',
			properties: ['campaignId', 'contactId'],
			where: 'campaign_id is not null',
		},
		// One mail a visit of an automation's step.
		{
			name: 'emails_step_execution',
			properties: ['projectId', 'workflowStepExecutionId'],
			where: 'workflow_step_execution_id is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		contactId: p.uuid().nullable(),
		to: p.text(),
		toName: p.text().nullable(),
		from: p.text(),
		fromName: p.text().nullable(),
		replyTo: p.text().nullable(),
		subject: p.text(),
		/** As rendered, without layout and footer; null once purged. */
		body: p.text().nullable(),
		headers: p.json<Record<string, string>>().defaultRaw(`'{}'`),
		/** Of our own words in it: its reader's, where we know it. */
		language: p.text().default('en'),
		/** What its author wrote it in; null: the same. */
		contentLanguage: p.text().nullable(),
		/** Of a marketing mail by itself; a campaign's has its campaign's. Every try is the same message. */
		postalAddress: p.text().nullable(),
		type: p.enum(mailTypes).default('TRANSACTIONAL'),
		sourceType: p.enum(sourceTypes),
		templateId: p.uuid().nullable(),
		campaignId: p.uuid().nullable(),
		workflowExecutionId: p.uuid().nullable(),
		workflowStepExecutionId: p.uuid().nullable(),
		/** The `/v1/send` request it came with: its mails leave in their order, and share its attachments. */
		requestId: p.uuid().nullable(),
		/** Names, types and sizes; the contents are in `attachments`. */
		attachments: p.json<{ filename: string; contentType: string; size: number }[]>().nullable(),
		status: p.enum(emailStatuses).default('PENDING'),
		rareStatus: p
			.text()
			.nullable()
			.lazy()
			.generated(
				`(case when status in ('${rareStatuses.join("', '")}') then status else null end) stored`,
			),
		attempt: p.integer().default(0),
		attemptStartedAt: p.datetime(3).nullable(),
		/** Patience begins here. */
		firstAttemptAt: p.datetime(3).nullable(),
		/** Not before then: the moment the send rate granted, or the end of the pause after a refusal. */
		dueAt: p.datetime(3).nullable(),
		/** Campaign mails that a provider gets in one request have one of these; it is the request's key. */
		batchId: p.uuid().nullable(),
		/** The attempt that the send rate has granted: the next one, or one that is over. */
		grantedAttempt: p.integer().default(0),
		/** Handed over once more although an earlier try may have arrived. */
		possibleRepeat: p.boolean().default(false),
		provider: p.text().nullable(),
		providerMessageId: p.text().nullable(),
		error: p.text().nullable(),
		/** What went wrong in rendering, which never stops a mail. */
		renderFault: p.text().nullable(),
		sentAt: p.datetime(3).nullable(),
		deliveredAt: p.datetime(3).nullable(),
		openedAt: p.datetime(3).nullable(),
		clickedAt: p.datetime(3).nullable(),
		bouncedAt: p.datetime(3).nullable(),
		complainedAt: p.datetime(3).nullable(),
		/** When its reader unsubscribed through it. */
		unsubscribedAt: p.datetime(3).nullable(),
		opens: p.integer().default(0),
		clicks: p.integer().default(0),
		/** Opens and clicks by machines, which are in neither. */
		prefetches: p.integer().default(0),
		/**
		 * Whether it carries our pixel and links: decided when it is first handed over, so that every try
		 * is the same message. A mail that must not is false from the beginning.
		 */
		tracked: p.boolean().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Email extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
}
schema.setClass(Email)
