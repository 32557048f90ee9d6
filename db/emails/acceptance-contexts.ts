import { type Limit, nearestLimit } from '../billing/usage-standing.ts'
import { isUndoable } from '../imports/import-undo.ts'
import { bool, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

// What a send is decided by and rendered with, in one round trip: see db/emails/acceptance.ts for the other.

export type SendContext = RowOf<typeof contextColumns>

export interface AskedContext {
	templateId: string | null
	/** The sender's domain, if it is not the template's. */
	domain: string | null
	emails: string[]
	/** Whether it subscribes some of them: only then `isUndoable` is looked up. */
	subscribes: boolean
	idCount: number
}

const contextColumns = {
	template: json<{
		id: string
		subject: string
		body: string
		from: string
		from_name: string | null
		reply_to: string | null
		type: 'TRANSACTIONAL' | 'MARKETING' | 'HEADLESS'
		language: string | null
	}>().orNull,
	/** null: the project has no such domain. */
	verified: bool.orNull,
	contacts: json<
		{
			id: string
			email: string
			subscribed: boolean
			isUndoable: boolean
			data: Record<string, unknown>
		}[]
	>(),
	/** New ids, in ascending order. */
	ids: text.array,
	/** null: there is no limit, or it was not requested. */
	limit: json<Limit>().orNull,
}

/**
 * One row for each request, in their order. They are JSON, which hides their number from the planner: it
 * would otherwise plan each call anew, which takes longer than the call. So would a parameter that said
 * whether the limit is wanted.
 */
const contexts = (name: string, limit: string) =>
	statement(name, {
		params: { projectId: uuid, requests: json<AskedContext[]>() },
		row: contextColumns,
		text: `with standing as materialized (
		select ${limit} as "limit"
	)
	select
		row_to_json(template) as template,
		(select verified_at is not null from domains where project_id = $projectId
			and domain = coalesce(asked.domain, lower(btrim(split_part(template."from", '@', 2))))) as verified,
		(select coalesce(json_agg(json_build_object(
				'id', id, 'email', email, 'subscribed', subscribed,
				'isUndoable', asked.subscribes and ${isUndoable('contacts.id')}, 'data', data)), '[]')
			from contacts where project_id = $projectId and email = any(asked.emails)) as contacts,
		(select array_agg(uuidv7()::text) from generate_series(1, asked."idCount")) as ids,
		standing."limit"
	from rows from (jsonb_to_recordset($requests::jsonb)
			as ("templateId" uuid, domain text, emails text[], subscribes bool, "idCount" int))
		with ordinality as asked("templateId", domain, emails, subscribes, "idCount", place)
	cross join standing
	left join lateral (
		select id, subject, body, "from", from_name, reply_to, type, language from templates
		where project_id = $projectId and id = asked."templateId" offset 0) template on true
	order by asked.place`,
	})

export const sendContexts = contexts('send-contexts', 'null::jsonb')
export const limitedContexts = contexts(
	'send-contexts-with-limit',
	nearestLimit('$projectId', 'transactional'),
)
