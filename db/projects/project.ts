import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, updatedAt } from '../columns.ts'

export const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const
export const disabledReasons = ['PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'] as const

/** Of the project that `npm start` makes. Nobody chose it, so recipients are not shown it. */
export const defaultProjectName = 'First project'

const schema = defineEntity({
	name: 'Project',
	tableName: 'projects',
	indexes: [{ properties: ['deletedAt'], where: 'deleted_at is not null' }],
	properties: {
		/** Of the data: what all its rows carry. Nobody outside sees it. */
		id: id(),
		/**
		 * The id that the API shows and takes: that of the project's first data, kept when a reset gives
		 * it other data. null: the data was reset or deleted, and is being removed.
		 */
		publicId: p.uuid().unique().nullable(),
		name: p.text(),
		publicKey: p.text().unique(),
		/** SHA-256 of the secret key: the key itself is shown once and kept nowhere. */
		secretKeyDigest: p.blob().$type<Buffer>().unique(),
		secretKeyEnding: p.text(),
		tracking: p.enum(trackingModes).default('ENABLED'),
		language: p.text().default('en'),
		/** Lines for the footer of marketing mail. */
		postalAddress: p.text().nullable(),
		/** null: the setting SEND_RATE_PER_SECOND; 0: unlimited. */
		sendRatePerSecond: p.double().nullable(),
		/** A project is disabled exactly while it has a reason. */
		disabledReason: p.enum(disabledReasons).nullable(),
		/** With a provider that sends in earnest, a project waits for its owner's address to be verified. */
		ownerVerified: p.boolean().default(true),
		/** Since then nobody reaches it, and its rows go. */
		deletedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Project extends schema.class {}
schema.setClass(Project)
