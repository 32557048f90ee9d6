import { readersColumns } from '../projects/members.ts'
import { text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The members to notify about an endpoint. */
export const endpointReaders = statement('webhook-endpoint-readers', {
	params: { projectId: uuid, endpointId: uuid },
	row: { ...readersColumns, url: text },
	text: `select p.name as project, p.language, readers_of(p.id) as members, w.url
	from webhook_endpoints w join projects p on p.id = w.project_id
	where w.project_id = $projectId and w.id = $endpointId`,
})

/** No row: they are notified already. */
export const markNotified = statement('mark-webhook-members-notified', {
	params: { projectId: uuid, endpointId: uuid },
	row: { id: uuid },
	text: `update webhook_endpoints set told_at = now()
	where project_id = $projectId and id = $endpointId and told_at is null and disabled_reason is not null
	returning id`,
})
