import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export const memberWith = statement('member-with-address', {
	params: { projectId: uuid, email: text },
	row: { id: uuid },
	text: `select u.id from memberships m join users u on u.id = m.user_id
	where m.project_id = $projectId and u.email = $email`,
})

export const suppressionOf = statement('suppression-of-address', {
	params: { projectId: uuid, email: text },
	row: { reason: text },
	text: 'select reason from suppressions where project_id = $projectId and email = $email',
})

/**
 * A preview for its sender. It belongs to no contact and no campaign, so it isn't counted and no
 * unsubscription stops it, and it is never tracked. It is delivered like every single mail.
 */
export const queueTestMail = statement('queue-test-mail', {
	params: {
		projectId: uuid,
		to: text,
		from: text,
		fromName: text,
		replyTo: text.orNull,
		subject: text,
		body: text,
		language: text,
	},
	row: { id: uuid },
	text: `with mail as (
		insert into emails (project_id, request_id, "to", "from", from_name, reply_to, subject, body, language,
			type, source_type, tracked)
		values ($projectId, uuidv7(), $to, $from, $fromName, $replyTo, $subject, $body, $language,
			'TRANSACTIONAL', 'TRANSACTIONAL', false)
		returning project_id, request_id, id
	), queued as (
		insert into queued_sends (project_id, request_id, email_ids)
		select project_id, request_id, array[id] from mail
	)
	select id from mail`,
})
