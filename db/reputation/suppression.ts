import { defineEntity, p, PrimaryKeyProp } from '@mikro-orm/core'
import { createdAt } from '../columns.ts'
import { statement } from '../statement.ts'

export const suppressionReasons = ['BOUNCE', 'COMPLAINT', 'MANUAL', 'UNSUBSCRIBED_ALL'] as const

const schema = defineEntity({
	name: 'Suppression',
	tableName: 'suppressions',
	indexes: [{ name: 'suppressions_newest', properties: ['projectId', 'createdAt', 'email'] }],
	properties: {
		projectId: p.uuid().primary(),
		email: p.text().primary(),
		reason: p.enum(suppressionReasons),
		emailId: p.uuid().nullable(),
		createdAt: createdAt(),
	},
})

export class Suppression extends schema.class {
	declare [PrimaryKeyProp]?: ['projectId', 'email']
}
schema.setClass(Suppression)

export interface SuppressionRow {
	email: string
	reason: (typeof suppressionReasons)[number]
	emailId: string | null
	createdAt: Date
}

const columns = `email, reason, email_id as "emailId", created_at as "createdAt"`
const wanted = `project_id = $1 and ($2::text is null or reason = $2)
	and ($3::text is null or position($3 in email) > 0)`

/**
 * Newest first. $1 project, $2 reason or null, $3 part of the address or null, $4 and $5 time and
 * address after which to go on, or null, $6 limit
 */
export const listSuppressions = statement<SuppressionRow>(
	'list-suppressions',
	`select ${columns} from suppressions
	where ${wanted} and ($4::timestamptz is null or (created_at, email) < ($4, $5::text))
	order by created_at desc, email desc limit $6::int`,
)

/** $1 project, $2 reason or null, $3 part of the address or null */
export const countSuppressions = statement<{ total: number }>(
	'count-suppressions',
	`select count(*)::int as total from suppressions where ${wanted}`,
)

/**
 * An address that is on the list stays there as it came: why mail bounced is not to be forgotten.
 * $1 project, $2 address, $3 reason
 */
export const addSuppression = statement<SuppressionRow & { isNew: boolean }>(
	'add-suppression',
	`with added as (
		insert into suppressions (project_id, email, reason) values ($1, $2, $3)
		on conflict (project_id, email) do nothing returning *
	)
	select ${columns}, true as "isNew" from added
	union all
	select ${columns}, false from suppressions
	where project_id = $1 and email = $2 and not exists (select from added)`,
)

/** $1 project, $2 address */
export const removeSuppression = statement<{ removed: true }>(
	'remove-suppression',
	`delete from suppressions where project_id = $1 and email = $2 returning true as removed`,
)
