import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, updatedAt } from './columns.ts'

export const trackingModes = ['ENABLED', 'DISABLED', 'MARKETING_ONLY'] as const
export const disabledReasons = ['PAYMENT_FAILED', 'EMAIL_REPUTATION', 'MANUAL'] as const

const schema = defineEntity({
	name: 'Project',
	tableName: 'projects',
	properties: {
		id: id(),
		name: p.text(),
		publicKey: p.text().unique(),
		/** SHA-256 of the secret key: the key itself is shown once and kept nowhere. */
		secretKeyDigest: p.blob().$type<Buffer>().unique(),
		secretKeyEnding: p.text(),
		tracking: p.enum(trackingModes).default('ENABLED'),
		language: p.text().default('en'),
		/** null: the setting SEND_RATE_PER_SECOND; 0: unlimited. */
		sendRatePerSecond: p.double().nullable(),
		/** A project is disabled exactly while it has a reason. */
		disabledReason: p.enum(disabledReasons).nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Project extends schema.class {}
schema.setClass(Project)
