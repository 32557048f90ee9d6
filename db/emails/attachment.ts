import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

/** A file of a `/v1/send` request, shared by the mails of that request. */
const schema = defineEntity({
	name: 'Attachment',
	tableName: 'attachments',
	properties: {
		projectId: p.uuid().primary(),
		requestId: p.uuid().primary(),
		position: p.integer().primary(),
		filename: p.text(),
		contentType: p.text(),
		contentId: p.text().nullable(),
		inline: p.boolean().default(false),
		content: p.blob().$type<Buffer>(),
	},
})

export class Attachment extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'requestId', 'position']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
schema.setClass(Attachment)
