import { defineEntity, p } from '@mikro-orm/core'
import { id, projectId } from '../columns.ts'

/** A mail that the local provider "delivered": it lies here instead of leaving the machine. */
const schema = defineEntity({
	name: 'MailboxMessage',
	tableName: 'mailbox_messages',
	properties: {
		id: id(),
		projectId: projectId(),
		/** Unique: handing the same mail over again changes nothing. */
		emailId: p.uuid().unique(),
		to: p.text(),
		from: p.text(),
		subject: p.text(),
		/** The mail as it would have gone over the wire: the rest is read from it. */
		raw: p.blob().$type<Buffer>(),
		read: p.boolean().default(false),
		receivedAt: p.datetime(3).defaultRaw('now()'),
	},
})

export class MailboxMessage extends schema.class {}
schema.setClass(MailboxMessage)
