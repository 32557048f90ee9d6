import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { reference } from '../reference.ts'
import { bool, int, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

export const suppressionReasons = ['BOUNCE', 'COMPLAINT', 'MANUAL', 'UNSUBSCRIBED_ALL'] as const

export const suppressionSchema = defineEntity({
	name: 'Suppression',
	tableName: 'suppressions',
	indexes: [{ name: 'suppressions_newest', properties: ['projectId', 'createdAt', 'email'] }],
	properties: {
		projectId: p.uuid().primary(),
		email: p.text().primary(),
		reason: p.enum(suppressionReasons),
		emailId: p.uuid().nullable(),
		/** When the reader decided to get no mail at all, whatever the reason says. */
		stoppedAt: p.datetime(3).nullable(),
		createdAt: createdAt(),
	},
})

export class Suppression extends suppressionSchema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'email']
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
suppressionSchema.setClass(Suppression)

const suppressionRowColumns = {
	email: text,
	reason: text.of<(typeof suppressionReasons)[number]>(),
	emailId: uuid.orNull,
	createdAt: timestamp,
}
export type SuppressionRow = RowOf<typeof suppressionRowColumns>

const columns = `email, reason, email_id as "emailId", created_at as "createdAt"`
const wanted = `project_id = $projectId and ($reason::text is null or reason = $reason)
	and ($pattern::text is null or position($pattern in email) > 0)`

/** Newest first. */
export const listSuppressions = statement('list-suppressions', {
	params: {
		projectId: uuid,
		reason: text.orNull,
		pattern: text.orNull,
		afterAt: timestamp.orNull,
		afterEmail: text.orNull,
		limit: int,
	},
	row: suppressionRowColumns,
	text: `select ${columns} from suppressions
	where ${wanted} and ($afterAt::timestamptz is null or
		(created_at, email) < ($afterAt, $afterEmail::text))
	order by created_at desc, email desc limit $limit::int`,
})

export const countSuppressions = statement('count-suppressions', {
	params: { projectId: uuid, reason: text.orNull, pattern: text.orNull },
	row: { total: int },
	text: `select count(*)::int as total from suppressions where ${wanted}`,
})

/**
 * A listed address keeps its entry, so that the reason of a bounce is not lost. Only the decision of its reader, who may
 * take it back, gives way, and is remembered beside the new reason.
 */
export const addSuppression = statement('add-suppression', {
	params: { projectId: uuid, email: text, reason: text },
	row: { ...suppressionRowColumns, isNew: bool },
	text: `with added as (
		insert into suppressions as s (project_id, email, reason) values ($projectId, $email, $reason)
		on conflict (project_id, email) do update set reason = excluded.reason, email_id = null,
				stopped_at = coalesce(s.stopped_at, s.created_at)
			where s.reason = 'UNSUBSCRIBED_ALL' and excluded.reason <> 'UNSUBSCRIBED_ALL'
		returning new.*, old.email is null as is_new
	)
	select ${columns}, is_new as "isNew" from added
	union all
	select ${columns}, false from suppressions
	where project_id = $projectId and email = $email and not exists (select from added)`,
})

/** No row: the address is not on the list. If its reader wants no mail at all, that stays as the reason. */
export const removeSuppression = statement('remove-suppression', {
	params: { projectId: uuid, email: text },
	row: { email: text },
	text: `with kept as (
		update suppressions set reason = 'UNSUBSCRIBED_ALL', email_id = null
		where project_id = $projectId and email = $email::text and stopped_at is not null and reason <> 'UNSUBSCRIBED_ALL'
		returning email
	), removed as (
		delete from suppressions where project_id = $projectId and email = $email and not exists (select from kept)
		returning email
	)
	select email from kept union all select email from removed`,
})
