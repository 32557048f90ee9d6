import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

/** An uploaded file, until its import has ended. */
const schema = defineEntity({
	name: 'ImportFile',
	tableName: 'import_files',
	properties: {
		projectId: p.uuid().primary(),
		jobId: p.uuid().primary(),
		content: p.blob().$type<Buffer>(),
	},
})

export class ImportFile extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'jobId']
}
schema.setClass(ImportFile)
