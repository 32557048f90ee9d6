import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import type { DomainRecord } from './domain-records.ts'

const schema = defineEntity({
	name: 'Domain',
	tableName: 'domains',
	uniques: [
		{ properties: ['projectId', 'id'] },
		{ properties: ['projectId', 'domain'] },
		// Of two projects that prove a domain at once, the first has it.
		{ name: 'domains_verified', properties: ['domain'], where: 'verified_at is not null' },
	],
	indexes: [{ name: 'domains_due', properties: ['nextCheckAt'] }],
	properties: {
		id: id(),
		projectId: projectId(),
		/** Lower case, ASCII. Any number of projects may claim it, and one at most has it verified. */
		domain: p.text(),
		verifiedAt: p.datetime(3).nullable(),
		/** The domain that `npm start` makes exists in no DNS: the sweep must not take it away. */
		sweepExempt: p.boolean().default(false),
		dkimSelector: p.text().nullable(),
		/** Sealed with a key derived from SESSION_SECRET. */
		dkimPrivateKey: p.blob().$type<Buffer>().nullable(),
		/** Base64 of the key as DNS has it. */
		dkimPublicKey: p.text().nullable(),
		/** Verified before a token had to be in DNS: not asked for one while it stays verified. */
		tokenExempt: p.boolean().default(false),
		/** What the provider calls it. Projects that claim the same domain share it. */
		providerDomainId: p.text().nullable(),
		/** As the last check found them. */
		records: p.json<DomainRecord[]>().defaultRaw(`'[]'`),
		/** In a row; one that could not be made counts neither way. */
		failedChecks: p.integer().default(0),
		lastError: p.text().nullable(),
		lastCheckedAt: p.datetime(3).nullable(),
		nextCheckAt: p.datetime(3).defaultRaw('now()'),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Domain extends schema.class {}
schema.setClass(Domain)
