import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { reference } from '../reference.ts'

// The outcomes of a project's mails per quarter of an hour, because days consist of whole quarters in
// every time zone. Triggers on `emails` append each statement's changes to mail_tallies, and now and then
// one of these statements also folds the project's tallies into mail_counts. The sum of both is always
// exact, whichever statement changed the mails. Deleting a mail doesn't change the counts.

const count = () => p.integer().default(0)

/** Each mail counts once, at the time stored in its row. */
const counts = {
	created: count(),
	sent: count(),
	delivered: count(),
	opened: count(),
	clicked: count(),
	bounced: count(),
	/** Of the mails sent in this quarter, those opened since. */
	sentOpened: count(),
	/** Of the mails sent in this quarter, those clicked since. */
	sentClicked: count(),
}

const tallySchema = defineEntity({
	name: 'MailTally',
	tableName: 'mail_tallies',
	properties: {
		projectId: p.uuid().primary(),
		id: p.uuid().primary().defaultRaw('uuidv7()'),
		slot: p.datetime(3),
		...counts,
	},
})

export class MailTally extends tallySchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'id']
	static references = [reference(['projectId'], 'projects', 'cascade', { isEnforced: false })]
	static storage = ['set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)']
}
tallySchema.setClass(MailTally)

const countSchema = defineEntity({
	name: 'MailCount',
	tableName: 'mail_counts',
	properties: {
		projectId: p.uuid().primary(),
		slot: p.datetime(3).primary(),
		...counts,
	},
})

export class MailCount extends countSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'slot']
	static references = [reference(['projectId'], 'projects', 'cascade')]
	static storage = ['set (fillfactor = 50)']
}
countSchema.setClass(MailCount)
