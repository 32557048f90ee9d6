import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'

// What became of a project's mails in each quarter of an hour, of which days consist in every time zone.
// Triggers on `emails` append what each statement changed to mail_tallies, and one in some hundred of
// these statements also folds the project's tallies into mail_counts. The sum of both is exact at any
// time, whoever changed the mails and however. A mail that is deleted was sent all the same.

const count = () => p.integer().default(0)

/** Each mail counts once, at the time its row has for it. */
const counts = {
	created: count(),
	sent: count(),
	delivered: count(),
	opened: count(),
	clicked: count(),
	bounced: count(),
	/** Of the mails sent then, those that were opened since. */
	sentOpened: count(),
	/** Of the mails sent then, those that were clicked since. */
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
}
countSchema.setClass(MailCount)
