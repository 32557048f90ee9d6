import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, updatedAt } from '../columns.ts'

export const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const
export const disabledReasons = ['PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'] as const

/** The name of the project that `npm start` creates. Recipients don't see it, because nobody chose it. */
export const defaultProjectName = 'First project'

export const projectSchema = defineEntity({
	name: 'Project',
	tableName: 'projects',
	indexes: [{ properties: ['deletedAt'], where: 'deleted_at is not null' }],
	properties: {
		/** The id of the data, used by all its rows. The API doesn't show it. */
		id: id(),
		/**
		 * The id in the API: the id of the project's first data, kept when a reset gives it new data. null: the
		 * data was reset or deleted, and is being removed.
		 */
		publicId: p.uuid().unique().nullable(),
		name: p.text(),
		publicKey: p.text().unique(),
		/** SHA-256 of the secret key: the key itself is shown once and stored nowhere. */
		secretKeyDigest: p.blob().$type<Buffer>().unique(),
		secretKeyEnding: p.text(),
		tracking: p.enum(trackingModes).default('ENABLED'),
		language: p.text().default('en'),
		/** Lines for the footer of marketing mail. */
		postalAddress: p.text().nullable(),
		/** null: the setting SEND_RATE_PER_SECOND; 0: unlimited. */
		sendRatePerSecond: p.double().$type<number>().nullable(),
		/** A project is disabled exactly while it has a reason. */
		disabledReason: p.enum(disabledReasons).nullable(),
		/** With a real provider, a project waits until its owner's address is verified. */
		ownerVerified: p.boolean().default(true),
		/** Since then it is out of reach, and its rows are being deleted. */
		deletedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Project extends projectSchema.class {}
projectSchema.setClass(Project)
