import { lastId } from './event.ts'

/**
 * The newest mails that are their own event, next to `stored`: the newest events of a list. If there are `most` of these,
 * the ledger is read only as far back as they go. A project may send nearly all its mails long after it accepts them,
 * and this would otherwise read all of them in search of others.
 */
export const newestSentMails = (most: string) =>
	`newest_sent_mails($projectId, case when (select count(*) from stored) < ${most} then '-infinity'
			else (select min(created_at) from stored) end, 'infinity', '${lastId}', ${most})`

/** The newest events of a name, and some more. */
export const newestNamed = (name: string, columns: string, most: string) =>
	`with stored as materialized (
			select ${columns} from events where project_id = $projectId and name = ${name}
			order by created_at desc, id desc limit ${most}
		)
		select * from stored
		union all
		select ${columns} from ${newestSentMails(most)} where ${name} = 'email.sent'`
