import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'
import type { DomainRecord } from './domain-records.ts'

const schema = defineEntity({
	name: 'Domain',
	tableName: 'domains',
	uniques: [
		{ properties: ['projectId', 'id'] },
		{ properties: ['projectId', 'domain'] },
		// If two projects prove a domain at once, the first gets it.
		{ name: 'domains_verified', properties: ['domain'], where: 'verified_at is not null' },
	],
	indexes: [{ name: 'domains_due', properties: ['nextCheckAt'] }],
	properties: {
		id: id(),
		projectId: projectId(),
		/** Lower case, ASCII. Any number of projects may add it, but only one has it verified. */
		domain: p.text(),
		verifiedAt: p.datetime(3).nullable(),
		/** The domain that `npm start` creates is in no DNS, so the sweep must not revoke it. */
		sweepExempt: p.boolean().default(false),
		dkimSelector: p.text().nullable(),
		/** Encrypted with a key derived from SESSION_SECRET. */
		dkimPrivateKey: p.blob().$type<Buffer>().nullable(),
		/** The key in base64, as in DNS. */
		dkimPublicKey: p.text().nullable(),
		/** Verified before tokens were required: it needs none while it stays verified. */
		tokenExempt: p.boolean().default(false),
		/** The provider's id for it. Projects with the same domain share it. */
		providerDomainId: p.text().nullable(),
		/** The result of the last check. */
		records: p.json<DomainRecord[]>().defaultRaw(`'[]'`),
		/** Failed checks in a row. A check that got no answer changes nothing. */
		failedChecks: p.integer().default(0),
		lastError: p.text().nullable(),
		lastCheckedAt: p.datetime(3).nullable(),
		/** When it was last verified, or its check requested: see pending-domains.ts. */
		awaitedSince: p.datetime(3).defaultRaw('now()'),
		nextCheckAt: p.datetime(3).defaultRaw('now()'),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Domain extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(Domain)
