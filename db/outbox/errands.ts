import { statement } from '../statement.ts'

/**
 * What is done outside for rows that are gone: the row of the outbox is all that is left to tell of it.
 * It stays until the run has done it, and its project's row with it.
 */
export const isErrand = `workflow_type in ('endSubscription', 'removeDomain')`

export interface UnfinishedErrand {
	id: string
	workflow_id: string
}

/**
 * Errands of which Temporal was told five minutes ago: it is asked about their runs. Any of them, so
 * that those that wait for a provider do not hide the others. $1 how many at most
 */
export const unfinishedErrands = statement<UnfinishedErrand>(
	'unfinished-errands',
	`select id, workflow_id from outbox where ${isErrand} and done_at < now() - interval '5 minutes'
	order by random() limit $1::int`,
)

/** Starts lost runs again, but none that has come to its end meanwhile. $1 [UnfinishedErrand] */
export const restartErrands = statement(
	'restart-errands',
	`update outbox o set done_at = null, next_at = now(), attempts = 0
	from jsonb_to_recordset($1::jsonb) as l(id bigint) where o.id = l.id and o.done_at is not null`,
)

/** How many a project has left. $1 project */
export const countErrands = statement<{ count: number }>(
	'count-errands',
	`select count(*)::int as count from outbox where project_id = $1 and ${isErrand}`,
)

/** It is done. $1 the run's id */
export const endErrand = statement(
	'end-errand',
	`delete from outbox where workflow_id = $1 and ${isErrand}`,
)
