import type { PoolClient } from 'pg'
import { int, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { tryWithin } from '../throttle.ts'
import type { AutomationKey } from './automation-schedules.ts'

// A few bytes of a request can make a version or a copy of a megabyte.

const mostBytesPerHour = 100 * 2 ** 20
const mostPerHour = 1000

/**
 * How many versions before the current one are kept, used or not. An hour has no more, so the version after the one
 * that is removed is at least an hour old: no execution of the removed one can still be uncommitted.
 */
export const keptVersions = mostPerHour

const mostOfSize = (bytes: number) =>
	Math.min(mostPerHour, Math.floor(mostBytesPerHour / Math.max(1, bytes)))

/** No row: the version is at least an hour old, or does not exist. */
const secondsToAnHour = statement('seconds-to-an-hour-of-automation-version', {
	params: { projectId: uuid, automationId: uuid, version: int },
	row: { seconds: int },
	text: `select ceil(extract(epoch from created_at + interval '1 hour' - now()))::int as seconds
	from automation_versions
	where project_id = $projectId and automation_id = $automationId::uuid and version = $version::int
		and created_at > now() - interval '1 hour'`,
})

/**
 * Removes the version if no execution has used it. An execution of it began while it was the current one, or minutes
 * later in a long transaction. So few executions are read, in executions_newest, which does not have their versions.
 */
const removeUnused = statement('remove-unused-automation-version', {
	params: { projectId: uuid, automationId: uuid, version: int },
	text: `delete from automation_versions v using automation_versions next
	where v.project_id = $projectId and v.automation_id = $automationId::uuid and v.version = $version::int
		and next.project_id = v.project_id and next.automation_id = v.automation_id
		and next.version = $version::int + 1
		and not exists (
			select from executions x
			where x.project_id = v.project_id and x.automation_id = v.automation_id
				and x.id >= first_id_at(v.created_at - interval '10 minutes')
				and x.id < first_id_at(next.created_at + interval '10 minutes')
				and x.version = v.version offset 0)`,
})

/**
 * Also removes the version that is no longer kept. null: the automation may have this new version. Otherwise the seconds
 * to wait; then the caller has to roll back.
 */
export async function limitVersions(
	db: PoolClient,
	{ projectId, automationId }: AutomationKey,
	version: number,
	bytes: number,
): Promise<number | null> {
	const key = { projectId, automationId }
	const [early] = await secondsToAnHour(db, { ...key, version: version - mostOfSize(bytes) })
	if (early) return Math.max(1, early.seconds)
	await removeUnused(db, { ...key, version: version - keptVersions - 1 })
	return null
}

/** null: the project may have another copy of this size. Otherwise the seconds to wait. */
export const limitCopies = (db: PoolClient, projectId: string, bytes: number) =>
	tryWithin(db, {
		what: 'copy of a workflow',
		subject: projectId,
		tries: mostOfSize(bytes),
		seconds: 3600,
	})
