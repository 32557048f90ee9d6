import { bigint, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * The bodies of mails, newest first, up to a total number of bytes; always the newest one. Bodies beyond
 * that are not read.
 */
export const mailBodies = statement('mail-bodies', {
	params: { projectId: uuid, emailIds: uuid.array, mostBytes: bigint },
	row: { id: uuid, body: text.orNull },
	text: `select id, body from (
		select id, body, row_number() over newest as place,
			sum(octet_length(coalesce(body, ''))) over newest as bytes
		from emails where project_id = $projectId and id = any($emailIds::uuid[])
		window newest as (order by id desc)
	) m where place = 1 or bytes <= $mostBytes::bigint order by id desc`,
})
