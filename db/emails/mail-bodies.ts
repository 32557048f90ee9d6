import { statement } from '../statement.ts'

/**
 * The bodies of mails, newest first, for as long as they come to no more than so many bytes in all; of the
 * newest in any case. What is too much is not even read. $1 project, $2 mails, $3 bytes
 */
export const mailBodies = statement<{ id: string; body: string | null }>(
	'mail-bodies',
	`select id, body from (
		select id, body, row_number() over newest as place,
			sum(octet_length(coalesce(body, ''))) over newest as bytes
		from emails where project_id = $1 and id = any($2::uuid[])
		window newest as (order by id desc)
	) m where place = 1 or bytes <= $3::bigint order by id desc`,
)
