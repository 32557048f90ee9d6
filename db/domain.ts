import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from './columns.ts'

const schema = defineEntity({
	name: 'Domain',
	tableName: 'domains',
	uniques: [{ properties: ['projectId', 'id'] }],
	properties: {
		id: id(),
		projectId: projectId(),
		/** Lower case, ASCII. One project at most may send from it. */
		domain: p.text().unique(),
		verifiedAt: p.datetime(3).nullable(),
		/** The domain that `npm start` makes exists in no DNS: the sweep must not take it away. */
		sweepExempt: p.boolean().default(false),
		dkimSelector: p.text().nullable(),
		/** Sealed with a key derived from SESSION_SECRET. */
		dkimPrivateKey: p.blob().$type<Buffer>().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Domain extends schema.class {}
schema.setClass(Domain)
