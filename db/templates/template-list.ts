import { sortedList } from '../sorted-list.ts'
import { statement } from '../statement.ts'
import type { mailTypes } from './template.ts'

export interface TemplateRecord {
	id: string
	name: string
	description: string | null
	subject: string
	body: string
	from: string
	fromName: string | null
	replyTo: string | null
	type: (typeof mailTypes)[number]
	language: string | null
	createdAt: Date
	updatedAt: Date
}

const wanted = `t.project_id = $1 and ($2::text is null or t.type = $2)
	and ($3::text is null or t.name ilike $3 or t.description ilike $3 or t.subject ilike $3)`

/** $1 project, $2 type or null, $3 pattern of name, description or subject, or null, $4 limit, $5 offset */
export const listTemplates = sortedList(
	'list-templates',
	`select t.id, octet_length(t.body) as bytes from templates t where ${wanted}`,
	't.id',
	{ name: 't.name', createdAt: 't.created_at', updatedAt: 't.updated_at' },
)

/** $1 project, $2 type or null, $3 pattern or null */
export const countTemplates = statement<{ total: number }>(
	'count-templates',
	`select count(*)::int as total from templates t where ${wanted}`,
)

/** $1 project, $2 ids, in whose order they come */
export const templatesOfPage = statement<TemplateRecord>(
	'templates-of-page',
	`select id, name, description, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type,
		language,
		created_at as "createdAt", updated_at as "updatedAt"
	from templates where project_id = $1 and id = any($2::uuid[])
	order by array_position($2::uuid[], id)`,
)
