import { statement } from '../statement.ts'

/** $1 project, $2 address */
export const memberWith = statement<{ id: string }>(
	'member-with-address',
	`select u.id from memberships m join users u on u.id = m.user_id
	where m.project_id = $1 and u.email = $2`,
)

/** $1 project, $2 address */
export const suppressionOf = statement<{ reason: string }>(
	'suppression-of-address',
	'select reason from suppressions where project_id = $1 and email = $2',
)

/**
 * A mail for its sender's eyes: of no contact and no campaign, so that nothing counts it and nobody's
 * unsubscribing keeps it back, and never tracked. It goes the way of every single mail.
 * $1 project, $2 address, $3 sender, $4 sender's name, $5 reply-to, $6 subject, $7 body, $8 language
 */
export const queueTestMail = statement<{ id: string }>(
	'queue-test-mail',
	`with mail as (
		insert into emails (project_id, request_id, "to", "from", from_name, reply_to, subject, body, language,
			type, source_type, tracked)
		values ($1, uuidv7(), $2, $3, $4, $5, $6, $7, $8, 'TRANSACTIONAL', 'TRANSACTIONAL', false)
		returning project_id, request_id, id
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select project_id, request_id, array[id] from mail
	)
	select id from mail`,
)
