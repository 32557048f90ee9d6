import type { Pool, PoolClient } from 'pg'
import { compileWhole } from '../conditions/condition-segments.ts'
import type { Condition } from '../conditions/condition.ts'
import { compileFrozen, freeze, type FrozenCondition } from '../conditions/frozen-condition.ts'
import { containingLowered } from '../like.ts'
import { createPager } from '../pager.ts'
import { bool, int, json, text, uuid } from '../sql-types.ts'
import { joined, query, sql, type Sql } from '../sql.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { failJob, type JobKey } from './jobs.ts'

/** The target of a bulk job, as its request described it. */
export interface BulkTarget {
	search?: string | undefined
	subscribed?: boolean | undefined
	condition?: Condition
	excludeIds?: string[]
	/** The field to remove, for delete-field. */
	field?: string
	/** How far earlier turns have come in finding its contacts. */
	progress?: Progress
}

interface Progress {
	/** The last contact that was looked at. */
	after: string
	/** The contacts found so far. */
	found: number
	/** The condition as it was in the first turn, and the time of that, from which its periods count back. */
	condition?: FrozenCondition
	at: string
}

const contactsAtOnce = 1000
/** No contact takes this long: something is wrong. */
const mostMsOfPage = 300_000

const recordTarget = statement('record-bulk-target', {
	params: { projectId: uuid, jobId: uuid, total: int },
	row: { id: uuid },
	text: `update jobs set total = $total::int
	where project_id = $projectId and id = $jobId and state = 'active' and total is null returning id`,
})

const recordProgress = statement('record-progress-of-bulk-target', {
	params: { projectId: uuid, jobId: uuid, progress: json<Progress>() },
	row: { id: uuid },
	text: `update jobs set target = target || jsonb_build_object('progress', $progress::jsonb)
	where project_id = $projectId and id = $jobId and state = 'active' and total is null returning id`,
})

const keepPage = query('keep-page-of-bulk-target', { last: uuid.orNull, isLast: bool, found: int })

/**
 * Stores the job's contacts once. So a job that changes what its filter selects, or continues after a
 * crash, still processes exactly these. Contacts that came after the request are none of them. All pages of a turn see
 * the same contacts and segments.
 */
export const setTarget = (
	pool: Pool,
	{ projectId, jobId }: JobKey,
	target: BulkTarget,
	isOver: () => boolean,
): Promise<'is set' | 'needs another turn' | 'has failed'> =>
	transaction(
		pool,
		async (db) => {
			const where = await wantedBy(db, projectId, target)
			if (!where) {
				const reason = 'The filter names a segment that was deleted'
				await failJob(db, { projectId, jobId, reason })
				return 'has failed'
			}
			const [project, job] = [uuid.value(projectId), uuid.value(jobId)]
			const nextPage = createPager()
			const { at } = target.progress ?? { at: new Date().toISOString() }
			let { after, found } = target.progress ?? { after: nobody, found: 0 }
			for (;;) {
				const [page] = await nextPage((contacts) =>
					keepPage(
						db,
						sql`with looked as materialized (
							select * from contacts where project_id = ${project} and id > ${uuid.value(after)}
								and created_at <= (select created_at from jobs where project_id = ${project} and id = ${job})
							order by id limit ${int.value(contacts)}
						), found as materialized (
							select c.id, row_number() over (order by c.id) - 1 as place
							from looked c where ${joined(where, ' and ')}
						), kept as (
							insert into job_contacts (project_id, job_id, position, contact_ids)
							select ${project}, ${job}, ${int.value(found)} + min(place), array_agg(id order by place)
							from found group by place / ${int.value(contactsAtOnce)}
						)
						select (select id from looked order by id desc limit 1) as last,
							(select count(*) from looked) < ${int.value(contacts)} as "isLast",
							(select count(*)::int from found) as found`,
					),
				)
				found += page!.found
				if (page!.isLast) break
				after = page!.last!
				if (isOver()) {
					const condition = await frozenOf(db, projectId, target)
					const progress = { after, found, at, ...(condition && { condition }) }
					claimed(await recordProgress(db, { projectId, jobId, progress }))
					return 'needs another turn'
				}
			}
			claimed(await recordTarget(db, { projectId, jobId, total: found }))
			return 'is set'
		},
		// A segment that is deleted meanwhile still has its members.
		`set transaction isolation level repeatable read; set local jit = off; set local statement_timeout = ${mostMsOfPage}`,
	)

const nobody = '00000000-0000-0000-0000-000000000000'

/** It was cancelled, or another try was faster and may have processed it by now. */
function claimed(rows: unknown[]) {
	if (rows.length === 0) throw new Error('This job has already started, or it has ended')
}

/** Null: the target can't be determined any more. */
async function wantedBy(
	db: PoolClient,
	projectId: string,
	{ search, subscribed, condition, excludeIds = [], field, progress }: BulkTarget,
): Promise<Sql[] | null> {
	const where = [sql`true`]
	if (search) where.push(sql`c.email like ${text.value(containingLowered(search))}`)
	if (subscribed !== undefined) where.push(sql`c.subscribed = ${bool.value(subscribed)}`)
	if (excludeIds.length > 0)
		where.push(sql`c.id not in (select unnest(${uuid.array.value(excludeIds)}))`)
	if (field !== undefined) where.push(sql`c.data ? ${text.value(field)}`)
	if (!condition) return where
	const present = await compileWhole(db, projectId, condition)
	if (!present) return null
	if (!progress?.condition) return [...where, present]
	const frozen = await compileFrozen(db, projectId, progress.condition, new Date(progress.at))
	return frozen && [...where, frozen]
}

async function frozenOf(db: PoolClient, projectId: string, { condition, progress }: BulkTarget) {
	if (!condition) return undefined
	return progress?.condition ?? (await freeze(db, projectId, condition))
}
