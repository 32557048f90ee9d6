import { lastId } from './event.ts'

/**
 * Mails that are their own event, for a list of the newest: its other events are in `stored`. If those fill the list,
 * the ledger is read only as far back as they go. In a project that sends nearly all its mails long after it accepts
 * them, few mails are their own event, and the search would go through all of them.
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
