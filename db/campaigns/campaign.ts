import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import type { Condition } from '../conditions/condition.ts'
import type { FrozenCondition } from '../conditions/frozen-condition.ts'
import { trackingModes } from '../projects/project.ts'
import { mailTypes } from '../templates/template.ts'

export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const
export const audienceTypes = ['ALL', 'SEGMENT', 'FILTERED'] as const

/** Who paused it; the API shows it as `pausedReason`. */
export const pausedReasons = ['OWNER', 'BILLING_LIMIT', 'FAULT', 'TEMPLATE'] as const
/** Why it came to an end before everybody had it. */
export const cancelledReasons = ['OWNER', 'PROJECT_DISABLED'] as const

/**
 * One mail to many contacts. From the start on its content never changes again, so the row is also what
 * every recipient's mail is rendered from.
 */
const schema = defineEntity({
	name: 'Campaign',
	tableName: 'campaigns',
	uniques: [{ properties: ['projectId', 'id'] }],
	indexes: [
		{
			name: 'campaigns_open',
			properties: ['startedAt'],
			where: `status <> 'DRAFT' and closed_at is null`,
		},
	],
	properties: {
		id: id(),
		projectId: projectId(),
		name: p.text(),
		description: p.text().nullable(),
		subject: p.text(),
		body: p.text(),
		from: p.text(),
		fromName: p.text().nullable(),
		replyTo: p.text().nullable(),
		type: p.enum(mailTypes).default('MARKETING'),
		/** What its author wrote it in; null: the project's. */
		contentLanguage: p.text().nullable(),
		/** Where its content came from. */
		templateId: p.uuid().nullable(),
		audienceType: p.enum(audienceTypes),
		audienceCondition: p.json<Condition>().nullable(),
		segmentId: p.uuid().nullable(),
		status: p.enum(campaignStatuses).default('DRAFT'),
		scheduledFor: p.datetime(3).nullable(),
		/** As counted last; from `materialisedAt` on, the rows it has in the ledger. */
		totalRecipients: p.integer().default(0),
		/** The audience is as of then. */
		startedAt: p.datetime(3).nullable(),
		// The project's at the start.
		projectName: p.text().nullable(),
		language: p.text().nullable(),
		postalAddress: p.text().nullable(),
		tracking: p.enum(trackingModes).nullable(),
		/** Whom its audience meant at the start, whatever becomes of the segments in it. */
		frozenAudience: p.json<FrozenCondition>().nullable(),
		/** Contacts up to this id have been looked at and have their rows. */
		materialisedUntil: p.uuid().nullable(),
		/** When the last recipient got a row; before that nothing is handed over. */
		materialisedAt: p.datetime(3).nullable(),
		/** The contact ids at which one lane ends and the next begins: one less than there are lanes. */
		laneBounds: p.array().columnType('uuid[]').nullable(),
		pausedAt: p.datetime(3).nullable(),
		pausedReason: p.enum(pausedReasons).nullable(),
		cancelledReason: p.enum(cancelledReasons).nullable(),
		sentAt: p.datetime(3).nullable(),
		/** When nothing of it was left to do; until then Temporal has a run for it. */
		closedAt: p.datetime(3).nullable(),
		/** Callers see it no more, but its mails are rendered from it. */
		deletedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Campaign extends schema.class {}
schema.setClass(Campaign)
