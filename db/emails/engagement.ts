import { defineEntity, p } from '@mikro-orm/core'
import { projectId } from '../columns.ts'
import { reference } from '../reference.ts'

export const engagementKinds = ['OPEN', 'CLICK'] as const

/**
 * The fetcher: certainly a machine, a proxy (which may fetch for a person or in advance), or probably a
 * person.
 */
export const fetchers = ['PERSON', 'PROXY', 'MACHINE'] as const

/**
 * An open or a click before it is counted. It is appended when it happens, so that readers don't wait for
 * the mail's row, and deleted when it is counted (db/emails/engagement-fold.ts).
 */
const schema = defineEntity({
	name: 'Engagement',
	tableName: 'engagements',
	indexes: [{ name: 'engagements_turns', properties: ['projectId', 'id'] }],
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: projectId(),
		emailId: p.uuid(),
		/** The campaign that the link was signed for. It counts only for mails of that campaign. */
		campaignId: p.uuid().nullable(),
		kind: p.enum(engagementKinds),
		link: p.text().nullable(),
		fetcher: p.enum(fetchers),
		at: p.datetime(3),
	},
})

export class Engagement extends schema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
schema.setClass(Engagement)
