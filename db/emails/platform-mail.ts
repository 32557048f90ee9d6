import { json } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * The project of our own mails, so that they are delivered like all mail: through the ledger, once.
 * projects.sql creates it. It has no keys, no members and no tracking, and is never suspended.
 */
export const platformProjectId = '00000000-0000-7000-8000-000000000000'

export interface PlatformMail {
	/** PLATFORM_FROM */
	from: string
	to: string
	/** These three come from `renderPlatformMail`. */
	language: string
	subject: string
	body: string
}

/** Each mail is a request of its own, so none waits for another. Wake the relay after the commit. */
export const queuePlatformMails = statement('queue-platform-mails', {
	params: { mails: json<PlatformMail[]>() },
	text: `with mails as (
		insert into emails (project_id, "from", from_name, "to", language, subject, body, type,
			source_type, request_id)
		select '${platformProjectId}', "from", 'Tempost', "to", language, subject, body,
			'TRANSACTIONAL', 'TRANSACTIONAL', uuidv7()
		from jsonb_to_recordset($mails::jsonb) as m("from" text, "to" text, language text,
			subject text, body text)
		returning project_id, id, request_id
	)
	insert into queued_sends (project_id, request_id, email_ids)
	select project_id, request_id, array[id] from mails`,
})
