import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import type { Condition } from '../conditions/condition.ts'
import type { FrozenCondition } from '../conditions/frozen-condition.ts'
import { trackingModes } from '../projects/project.ts'
import { reference } from '../reference.ts'
import { mailTypes } from '../templates/template.ts'

export const campaignStatuses = ['DRAFT', 'SCHEDULED', 'SENDING', 'SENT', 'CANCELLED'] as const
export const audienceTypes = ['ALL', 'SEGMENT', 'FILTERED'] as const

/** The reason for a pause, as `pausedReason` in the API. */
export const pausedReasons = ['OWNER', 'BILLING_LIMIT', 'FAULT', 'TEMPLATE', 'SENDER'] as const
/** Why it ended before all recipients had it. */
export const cancelledReasons = ['OWNER', 'PROJECT_DISABLED'] as const

/**
 * One mail to many contacts. Its content never changes after the start, so every recipient's mail is
 * rendered from this row.
 */
export const campaignSchema = defineEntity({
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
		/** The language of the author's text; null: the project's. */
		contentLanguage: p.text().nullable(),
		/** The template that its content was copied from. */
		templateId: p.uuid().nullable(),
		audienceType: p.enum(audienceTypes),
		audienceCondition: p.json<Condition>().nullable(),
		segmentId: p.uuid().nullable(),
		status: p.enum(campaignStatuses).default('DRAFT'),
		scheduledFor: p.datetime(3).nullable(),
		/** The last count; from `materialisedAt` on, the number of contacts in the frozen audience. */
		totalRecipients: p.integer().default(0),
		/** The audience is as of this time. */
		startedAt: p.datetime(3).nullable(),
		// The project's name at the start.
		projectName: p.text().nullable(),
		language: p.text().nullable(),
		postalAddress: p.text().nullable(),
		tracking: p.enum(trackingModes).nullable(),
		/** The audience as it was at the start, whatever happens to its segments. */
		frozenAudience: p.json<FrozenCondition>().nullable(),
		/** Contacts up to this id have been read: see audience-pages.ts. */
		materialisedUntil: p.uuid().nullable(),
		/** When the whole audience was frozen. */
		materialisedAt: p.datetime(3).nullable(),
		/**
		 * The contact ids that separate the lanes: one fewer than there are lanes. Null: not divided yet.
		 */
		laneBounds: p.array().columnType('uuid[]').nullable(),
		pausedAt: p.datetime(3).nullable(),
		pausedReason: p.enum(pausedReasons).nullable(),
		cancelledReason: p.enum(cancelledReasons).nullable(),
		sentAt: p.datetime(3).nullable(),
		/** When no work was left; until then Temporal has a run for it. */
		closedAt: p.datetime(3).nullable(),
		/** The API no longer shows it, but its mails are still rendered from it. */
		deletedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Campaign extends campaignSchema.class {
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'segmentId'], 'segments', 'set null'),
		reference(['projectId', 'templateId'], 'templates', 'set null'),
	]
	static storage = ['set (fillfactor = 50)']
}
campaignSchema.setClass(Campaign)
