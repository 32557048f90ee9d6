import { int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export type AuditRecord = RowOf<typeof listAudit>

/** One entry for each project. */
export const recordAudit = statement('record-audit', {
	params: {
		projectIds: uuid.array,
		userId: uuid.orNull,
		actor: text,
		action: text,
		target: json<object>(),
		statusCode: int,
		ip: text,
		userAgent: text.orNull,
		requestId: uuid,
	},
	text: `insert into audit_entries (project_id, user_id, actor, action, target, status, ip, user_agent, request_id)
	select project_id, $userId::uuid, $actor::text, $action::text, $target::jsonb,
		$statusCode::smallint, $ip::text, $userAgent::text, $requestId::uuid
	from unnest($projectIds::uuid[]) as p(project_id)`,
})

/** Newest first. */
export const listAudit = statement('list-audit', {
	params: { publicId: uuid, after: uuid.orNull, limit: int },
	row: {
		id: uuid,
		userId: uuid.orNull,
		actor: text,
		action: text,
		target: json<Record<string, string>>(),
		status: int,
		ip: text,
		userAgent: text.orNull,
		requestId: uuid,
		createdAt: timestamp,
	},
	text: `select id, user_id as "userId", actor, action, target, status, ip, user_agent as "userAgent",
		request_id as "requestId", created_at as "createdAt"
	from audit_entries
	where project_id = $publicId and ($after::uuid is null or id < $after::uuid)
	order by id desc limit $limit::int`,
})

export const countAudit = statement('count-audit', {
	params: { publicId: uuid },
	row: { total: int },
	text: `select count(*)::int as total from audit_entries where project_id = $publicId`,
})
