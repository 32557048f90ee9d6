import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

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
	static references = [
		reference(['projectId'], 'projects', 'cascade'),
		reference(['projectId', 'jobId'], 'jobs', 'cascade'),
	]
	static storage = ['alter column content set storage external']
}
schema.setClass(ImportFile)
