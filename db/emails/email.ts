import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt, updatedAt } from '../columns.ts'
import { fewPerContact, fewPerContactInAll } from '../contacts/few-per-contact.ts'
import type { Partitions } from '../partitions.ts'
import { reference } from '../reference.ts'
import { mailTypes } from '../templates/template.ts'

/** A further reader of a mail, who is no contact. */
export interface MailCopy {
	kind: 'cc' | 'bcc'
	email: string
	name: string | null
	/** Why it did not get the mail. Set at the first attempt if it is left out; later if it was refused. */
	error: string | null
	/** When it was last reported to have bounced permanently, or as spam. Only the first report has consequences. */
	bouncedAt?: string
	complainedAt?: string
}

/** In lifecycle order: a late provider event never moves a mail back from SENT to COMPLAINED. */
export const emailStatuses = [
	'SCHEDULED',
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

export const sourceTypes = ['TRANSACTIONAL', 'CAMPAIGN', 'WORKFLOW', 'INBOUND'] as const

/** Statuses that few mails get, and that operators search for. */
export const rareStatuses = [
	'UNCERTAIN',
	'BOUNCED',
	'COMPLAINED',
	'FAILED',
	'SUPPRESSED',
	'CANCELLED',
	'RECEIVED',
] as const

/** Replaces the address once its person was erased. Never used for delivery. */
export const erasedAddress = 'deleted@deleted.invalid'

/** Why a mail was not sent: its contact was deleted before. */
export const contactDeleted = 'The contact was deleted'

/**
 * The ledger: one row per mail, whatever its status. The row also holds the open attempt (`attempt`,
 * `attemptStartedAt` while SENDING); ended attempts are rows of `attempts`. No index contains `status`, so
 * that status changes stay heap-only updates. Mails are found by `rareStatus` instead, which most mails
 * never have.
 */
const schema = defineEntity({
	name: 'Email',
	tableName: 'emails',
	indexes: [
		// In the order of a campaign's lanes. A contact has one mail: one place in the pages of the audience.
		{
			name: 'emails_recipients',
			properties: ['campaignId', 'contactId'],
			where: 'campaign_id is not null',
		},
		{
			name: 'emails_contact',
			properties: ['contactId', 'id'],
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
		// By address, for erasing: mails without a contact, or of a deleted one.
		{
			name: 'emails_of_nobody',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} (${columns.projectId}, (case ${columns.sourceType} when 'INBOUND' then "${columns.from}" else "${columns.to}" end)) where ${columns.contactId} is null`,
		},
		// By the person it was written about, for erasing. Mails to that person are left out.
		{
			name: 'emails_about',
			properties: ['aboutContactId'],
			where: 'about_contact_id is not null',
		},
		// By a copy's address, for erasing. Mails without copies are left out.
		{
			name: 'emails_copies',
			expression: (columns, table, name) =>
				`create index ${name} on ${table.name} using gin (${columns.copies} jsonb_path_ops) where ${columns.copies} is not null`,
		},
		// Mails to be purged: those without a body are left out.
		{
			name: 'emails_with_body',
			properties: ['createdAt'],
			where: 'body is not null',
		},
		// A campaign's mails that wait for their next try, in the order of its lanes. Its other mails have no due time.
		{
			name: 'emails_waiting',
			properties: ['campaignId', 'contactId', 'dueAt'],
			where: 'campaign_id is not null and due_at is not null',
		},
	],
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		contactId: p.uuid().nullable(),
		to: p.text(),
		toName: p.text().nullable(),
		/** `cc` and `bcc`. Null: there were never any. Empty: their readers were erased. */
		copies: p.json<MailCopy[]>().nullable(),
		/**
		 * Null: the mail has its campaign's sender (address, name, reply-to), language of the text and template,
		 * which its own columns don't repeat.
		 */
		from: p.text().nullable(),
		fromName: p.text().nullable(),
		replyTo: p.text().nullable(),
		/** As rendered; null: the campaign's. */
		subject: p.text().nullable(),
		/** As rendered, without layout and footer; null once purged. */
		body: p.text().nullable(),
		/** The text part as given, rendered; null: made from the body. Purged with it. */
		text: p.text().nullable(),
		/** Null: none. */
		headers: p.json<Record<string, string>>().nullable().defaultRaw(`'{}'`),
		/** The language of our own words in it: the reader's, if known. Null: the campaign's. */
		language: p.text().nullable().default('en'),
		/** The language of the author's text; null: the same. */
		contentLanguage: p.text().nullable(),
		/**
		 * For a single marketing mail; a campaign's mails use the campaign's address. Every try sends the same
		 * message.
		 */
		postalAddress: p.text().nullable(),
		/** Null: the campaign's. */
		type: p.enum(mailTypes).nullable().default('TRANSACTIONAL'),
		/** Only a subscribed contact may get it. Null: its type and source decide. */
		needsConsent: p.boolean().nullable(),
		/** Null: CAMPAIGN. Older mails of campaigns say so. */
		sourceType: p.enum(sourceTypes).nullable(),
		/** It existed when the mail was written, and may have been deleted since. */
		templateId: p.uuid().nullable(),
		campaignId: p.uuid().nullable(),
		workflowExecutionId: p.uuid().nullable(),
		/** The contact whose automation wrote it to another address. Null also for mails of older releases. */
		aboutContactId: p.uuid().nullable(),
		/** Also the mail's id, so that a visit of a step has one mail. */
		workflowStepExecutionId: p.uuid().nullable(),
		/** The `/v1/send` request of the mail. Its mails are sent in order and share its attachments. */
		requestId: p.uuid().nullable(),
		/** Names, types and sizes; the contents are in `attachments`. */
		attachments: p.json<{ filename: string; contentType: string; size: number }[]>().nullable(),
		tags: p.json<{ name: string; value: string }[]>().nullable(),
		/** When it was to be released: for a mail that is, or was, SCHEDULED. */
		scheduledFor: p.datetime(3).nullable(),
		/** What `delivery.throttle` compares in place of the subject. */
		throttleKey: p.text().nullable(),
		status: p.enum(emailStatuses).default('PENDING'),
		rareStatus: p
			.text()
			.nullable()
			.lazy()
			.generated(
				`(case when status in ('${rareStatuses.join("', '")}') then status else null end) stored`,
			),
		attempt: p.integer().default(0),
		/**
		 * Null for a mail born with its first attempt, while it is SENDING and once it is settled: that started at
		 * `created_at`. It is filled in if the mail comes into doubt or is to be tried again.
		 */
		attemptStartedAt: p.datetime(3).nullable(),
		/** The time limit for retries starts here. Null like the one above, and before the first attempt. */
		firstAttemptAt: p.datetime(3).nullable(),
		/**
		 * The earliest time to send: granted by the send rate, or the end of the pause after a refusal. A campaign's
		 * mail has one only while it waits for another try.
		 */
		dueAt: p.datetime(3).nullable(),
		/** Set for campaign mails that a provider gets in one request. It is the request's idempotency key. */
		batchId: p.uuid().nullable(),
		/** The attempt that the send rate was granted for: the next one, or one that has ended. Null: 0. */
		grantedAttempt: p.integer().nullable().default(0),
		/** Handed over again although an earlier try may have arrived. */
		possibleRepeat: p.boolean().default(false),
		provider: p.text().nullable(),
		providerMessageId: p.text().nullable(),
		error: p.text().nullable(),
		/** The fault in rendering, if any; it never stops a mail. */
		renderFault: p.text().nullable(),
		sentAt: p.datetime(3).nullable(),
		/** This row is also the event `email.sent`. Otherwise the event is in `events`: see db/events/sent-mails.sql. */
		isSentEvent: p.boolean().default(false),
		deliveredAt: p.datetime(3).nullable(),
		openedAt: p.datetime(3).nullable(),
		clickedAt: p.datetime(3).nullable(),
		bouncedAt: p.datetime(3).nullable(),
		complainedAt: p.datetime(3).nullable(),
		/** When its reader unsubscribed through it. */
		unsubscribedAt: p.datetime(3).nullable(),
		/** Null, here and in the next two: 0. */
		opens: p.integer().nullable().default(0),
		clicks: p.integer().nullable().default(0),
		/** Opens and clicks by machines, which the counts above leave out. */
		prefetches: p.integer().nullable().default(0),
		/**
		 * Whether it contains our pixel and links: decided at the first hand-over, so that every try sends the
		 * same message. False from the start if tracking is not allowed.
		 */
		tracked: p.boolean().nullable(),
		createdAt: createdAt(),
		/** Null: when it was sent, or else created. */
		updatedAt: updatedAt().nullable(),
	},
})

export class Email extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [
		reference(['projectId'], 'projects', 'cascade', { isEnforced: false }),
		reference(['projectId', 'campaignId'], 'campaigns', 'no action', { isEnforced: false }),
		reference(['projectId', 'contactId'], 'contacts', 'set null', { isEnforced: false }),
	]
	static partitions: Partitions = {
		by: 'id',
		storage: [
			// Room for the second version of each row: its outcome, which is longer than the first by the subject and the
			// provider's answer.
			'set (toast_tuple_target = 512, autovacuum_vacuum_scale_factor = 0.05, fillfactor = 45)',
			fewPerContact,
		],
	}
	static storage = [fewPerContactInAll]
}
schema.setClass(Email)
