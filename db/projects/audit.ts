import { statement } from '../statement.ts'

export interface AuditRecord {
	id: string
	userId: string | null
	actor: string
	action: string
	target: Record<string, string>
	status: number
	ip: string
	userAgent: string | null
	requestId: string
	createdAt: Date
}

/** One entry for each project. $1 projects, $2 user or null, $3 actor, $4 action, $5 target, $6 status, $7 ip, $8 user agent, $9 request */
export const noteAudit = statement(
	'note-audit',
	`insert into audit_entries (project_id, user_id, actor, action, target, status, ip, user_agent, request_id)
	select project_id, $2::uuid, $3::text, $4::text, $5::jsonb, $6::smallint, $7::text, $8::text, $9::uuid
	from unnest($1::uuid[]) as p(project_id)`,
)

/** Newest first. $1 project, $2 the id of the last one before this page or null, $3 how many */
export const listAudit = statement<AuditRecord>(
	'list-audit',
	`select id, user_id as "userId", actor, action, target, status, ip, user_agent as "userAgent",
		request_id as "requestId", created_at as "createdAt"
	from audit_entries
	where project_id = $1 and ($2::uuid is null or id < $2::uuid)
	order by id desc limit $3::int`,
)

/** $1 project */
export const countAudit = statement<{ total: number }>(
	'count-audit',
	`select count(*)::int as total from audit_entries where project_id = $1`,
)
