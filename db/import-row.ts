import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import type { ContactData } from './contact.ts'

/** The good rows of a file, set down before any of them is applied; gone when the import has ended. */
const schema = defineEntity({
	name: 'ImportRow',
	tableName: 'import_rows',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		/** From 1, without gaps. */
		position: p.integer().primary(),
		/** As a spreadsheet counts: the header is row 1. */
		row: p.integer(),
		email: p.text(),
		/** null: as it is. */
		subscribed: p.boolean().nullable(),
		data: p.json<ContactData>(),
		/** A later row has the same address, and this one's values where it has none itself. */
		superseded: p.boolean().default(false),
	},
})

export class ImportRow extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId', 'position']
}
schema.setClass(ImportRow)
