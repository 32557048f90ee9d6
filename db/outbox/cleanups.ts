import { bigint, int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Work at other services after rows were deleted. The outbox row is the only record of it. It stays until
 * the run has done the work, and keeps its project's row.
 */
export const isCleanup = `workflow_type in ('endSubscription', 'removeDomain')`

/**
 * Cleanups that Temporal received five minutes ago: Temporal is asked about their runs. A random choice,
 * so that those waiting for a provider don't hide the others.
 */
export const unfinishedCleanups = statement('unfinished-cleanups', {
	params: { limit: int },
	row: { id: bigint, workflow_id: text },
	text: `select id, workflow_id from outbox where ${isCleanup}
		and done_at < now() - interval '5 minutes'
	order by random() limit $limit::int`,
})

/** Restarts lost runs, except for cleanups that have ended meanwhile. */
export const restartCleanups = statement('restart-cleanups', {
	params: { runs: json<object[]>() },
	text: `update outbox o set done_at = null, next_at = now(), attempts = 0
	from jsonb_to_recordset($runs::jsonb) as l(id bigint) where o.id = l.id and o.done_at is not null`,
})

/** The number of a project's remaining cleanups. */
export const countCleanups = statement('count-cleanups', {
	params: { projectId: uuid },
	row: { count: int },
	text: `select count(*)::int as count from outbox where project_id = $projectId and ${isCleanup}`,
})

/** The cleanup is done. */
export const endCleanup = statement('end-cleanup', {
	params: { workflowId: text },
	text: `delete from outbox where workflow_id = $workflowId and ${isCleanup}`,
})
