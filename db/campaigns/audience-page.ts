import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/**
 * A page has at most this many contacts. Each slice of mails reads all of its page, but the last slice of a page is
 * smaller than the others, and small slices cost a mail more.
 */
export const contactsOfPage = 2000

/**
 * Some recipients of a campaign, whose mails are not in the ledger yet: contacts in order, within one lane.
 * Mails are born from a page in that order, in the statement that claims them, so a page is deleted with
 * its last mail. The ids say nothing about people: they stay when contacts are deleted.
 */
const schema = defineEntity({
	name: 'AudiencePage',
	tableName: 'audience_pages',
	properties: {
		projectId: p.uuid().primary(),
		campaignId: p.uuid().primary(),
		/** The last of its contacts. */
		until: p.uuid().primary(),
		contactIds: p.array().columnType('uuid[]'),
		/** How many contacts it has. */
		size: p.integer(),
		/** How many of them have their mails. */
		taken: p.integer().default(0),
	},
})

export class AudiencePage extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'campaignId', 'until']
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'campaignId'], 'campaigns', 'cascade'),
	]
	static storage = [
		// Not compressed, because each slice reads it.
		'alter column contact_ids set storage external',
		'set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)',
	]
}
schema.setClass(AudiencePage)
