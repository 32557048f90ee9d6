import { defineEntity, p } from '@mikro-orm/core'
import { projectId } from '../columns.ts'

export const engagementKinds = ['OPEN', 'CLICK'] as const

/**
 * Who fetched it: a machine for sure, a proxy (which may fetch for a person, or ahead of one), or,
 * as far as can be told, a person.
 */
export const fetchers = ['PERSON', 'PROXY', 'MACHINE'] as const

/**
 * An open or a click on its way into the ledger: appended when it happens, so that nobody waits for a
 * mail's row, and taken out again when it is counted (db/emails/engagement-fold.ts).
 */
const schema = defineEntity({
	name: 'Engagement',
	tableName: 'engagements',
	properties: {
		id: p.bigint('number').primary().autoincrement(),
		projectId: projectId(),
		emailId: p.uuid(),
		/** The campaign that the link was signed for: it counts only for mails of that campaign. */
		campaignId: p.uuid().nullable(),
		kind: p.enum(engagementKinds),
		link: p.text().nullable(),
		fetcher: p.enum(fetchers),
		at: p.datetime(3),
	},
})

export class Engagement extends schema.class {}
schema.setClass(Engagement)
