import { sortedList } from '../sorted-list.ts'
import { int, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { mailTypes } from './template.ts'

const wanted = `t.project_id = $projectId and ($type::text is null or t.type = $type)
	and ($pattern::text is null or t.name ilike $pattern or t.description ilike $pattern
		or t.subject ilike $pattern)`

/** The pattern matches name, description or subject. */
export const listTemplates = sortedList('list-templates', {
	params: { projectId: uuid, type: text.orNull, pattern: text.orNull },
	rows: `select t.id, octet_length(t.body) as bytes from templates t where ${wanted}`,
	id: 't.id',
	columns: { name: 't.name', createdAt: 't.created_at', updatedAt: 't.updated_at' },
})

export const countTemplates = statement('count-templates', {
	params: { projectId: uuid, type: text.orNull, pattern: text.orNull },
	row: { total: int },
	text: `select count(*)::int as total from templates t where ${wanted}`,
})

/** In order of the ids. */
export const templatesOfPage = statement('templates-of-page', {
	params: { projectId: uuid, templateIds: uuid.array },
	row: {
		id: uuid,
		name: text,
		description: text.orNull,
		subject: text,
		body: text,
		from: text,
		fromName: text.orNull,
		replyTo: text.orNull,
		type: text.of<(typeof mailTypes)[number]>(),
		language: text.orNull,
		createdAt: timestamp,
		updatedAt: timestamp,
	},
	text: `select id, name, description, subject, body, "from", from_name as "fromName", reply_to as "replyTo", type,
		language,
		created_at as "createdAt", updated_at as "updatedAt"
	from templates where project_id = $projectId and id = any($templateIds::uuid[])
	order by array_position($templateIds::uuid[], id)`,
})
