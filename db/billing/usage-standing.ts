import type { EntityManager } from '@mikro-orm/postgresql'
import type { PoolClient } from 'pg'
import { int, json, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { type NewRow, now, tables } from '../tables.ts'
import type { UsageCategory } from './usage-count.ts'
import type { LimitedCategory } from './usage-notice.ts'

/** A limit and its use. */
export interface Limit {
	category: LimitedCategory
	limit: number
	usage: number
}

/** At this share of a limit the project's members are warned. */
export const warningPercent = 80

export const percentageOf = ({ usage, limit }: Limit) => Math.floor((usage * 100) / limit)

/** Whether mail of this weight would exceed the limit. */
export const exceeds = ({ usage, limit }: Limit, weight: number) => usage + weight > limit

/** For a select: the limit with the least left for a category; null if there is none. */
export const nearestLimit = (project: string, category: string) =>
	`nearest_limit(${project}, '${category}')`

/** For a where: whether there is room for one more. */
export const hasRoom = (project: string, category: string) =>
	`coalesce((select (l->>'usage')::int8 < (l->>'limit')::int8
		from ${nearestLimit(project, category)} l), true)`

/** Each category of this month, and the total. */
export const usageStanding = statement('usage-standing', {
	params: { projectId: uuid },
	row: { category: text.of<LimitedCategory>(), usage: int, limit: int.orNull },
	text: `select category, used::int as usage, allowed as limit from usage_standing($projectId)`,
})

const lockUsage = statement('lock-usage', {
	params: { projectId: uuid },
	text: `select pg_advisory_xact_lock(hashtextextended('limits of ' || $projectId::uuid, 0))`,
})

export const limitOf = statement('limit-of-category', {
	params: { projectId: uuid, category: text.of<UsageCategory>() },
	row: { limit: json<Limit>().orNull },
	text: `select nearest_limit($projectId, $category::text) as limit`,
})

/**
 * Reads the limit again under a lock that lasts until the end of the transaction. So of concurrent
 * requests only as many are accepted as the limit has room for.
 */
export async function limitUnderLock(db: PoolClient, projectId: string): Promise<Limit | null> {
	await lockUsage(db, { projectId })
	const [row] = await limitOf(db, { projectId, category: 'transactional' })
	return row!.limit
}

/** Null: no limit. Categories that are not named keep their limits. */
export function setLimits(
	em: EntityManager,
	projectId: string,
	limits: { [category in UsageCategory]?: number | null },
) {
	const columns = {
		workflowsLimit: limits.workflows,
		campaignsLimit: limits.campaigns,
		transactionalLimit: limits.transactional,
		inboundLimit: limits.inbound,
	}
	return tables(em)
		.insertInto('billing_accounts')
		.values({ projectId, ...columns } as NewRow<'billing_accounts'>)
		.onConflict((conflict) =>
			conflict.column('projectId').doUpdateSet({ ...columns, updatedAt: now }),
		)
		.execute()
}
