import type { Pool } from 'pg'
import { int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { always, joined, query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { type Period, within } from '../within.ts'

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

export interface AuditFilter extends Period {
	/** The project's public id. */
	publicId: string
	userId?: string | undefined
	by?: 'user' | 'key' | undefined
}

/** Changes by people are few beside those by keys, and audit_entries_users finds them. */
const byPeople = sql`user_id is not null`

function matching({ publicId, userId, by, from, to }: AuditFilter): Sql {
	const where = [sql`project_id = ${uuid.value(publicId)}`]
	if (userId !== undefined) where.push(sql`user_id = ${uuid.value(userId)}`)
	if (by !== undefined) where.push(by === 'user' ? byPeople : sql`user_id is null`)
	where.push(...within({ from, to }, { id: sql`id`, time: sql`created_at` }))
	return joined(where, ' and ')
}

const columns = {
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
}
export type AuditRecord = RowOf<typeof columns>

const list = query('list-audit', columns)

/** Newest first. */
export const listAudit = (
	pool: Pool,
	filter: AuditFilter,
	{ after, limit }: { after: string | null; limit: number },
) =>
	list(
		pool,
		sql`select id, user_id as "userId", actor, action, target, status, ip, user_agent as "userAgent",
			request_id as "requestId", created_at as "createdAt"
		from audit_entries
		where ${matching(filter)} and ${after === null ? always : sql`id < ${uuid.value(after)}`}
		order by id desc limit ${int.value(limit)}`,
	)

const count = query('count-audit', { total: int })

/** A project that writes a lot has hundreds of millions: no count of them is worth its time. */
const mostCounted = 10_000

export async function countAudit(pool: Pool, filter: AuditFilter) {
	const [row] = await count(
		pool,
		sql`select count(*)::int as total from (
			select from audit_entries where ${matching(filter)} limit ${int.value(mostCounted)}) counted`,
	)
	return row!.total
}
