import type { Pool, PoolClient } from 'pg'
import { statement } from '../statement.ts'
import type { LimitedCategory } from './usage-notice.ts'

/** A limit, and how much of it is used. */
export interface Limit {
	category: LimitedCategory
	limit: number
	usage: number
}

/** From this share of a limit on its project's members are warned. */
export const warningPercent = 80

export const percentageOf = ({ usage, limit }: Limit) => Math.floor((usage * 100) / limit)

/** Whether mail that counts so much must not be taken any more. */
export const exceeds = ({ usage, limit }: Limit, weight: number) => usage + weight > limit

/** For a select: the limit of which the least is left to a category, null if there is none. */
export const nearestLimit = (project: string, category: string) =>
	`nearest_limit(${project}, '${category}')`

/** For a where: whether one more may come. */
export const hasRoom = (project: string, category: string) =>
	`coalesce((select (l->>'usage')::int8 < (l->>'limit')::int8
		from ${nearestLimit(project, category)} l), true)`

/** Each category of this month, and all together. $1 project */
export const usageStanding = statement<{
	category: LimitedCategory
	usage: number
	limit: number | null
}>(
	'usage-standing',
	`select category, used::int as usage, allowed as limit from usage_standing($1)`,
)

const lockUsage = statement(
	'lock-usage',
	`select pg_advisory_xact_lock(hashtextextended('limits of ' || $1::uuid, 0))`,
)
const limitOfTransactional = statement<{ limit: Limit | null }>(
	'limit-of-transactional',
	`select ${nearestLimit('$1', 'transactional')} as limit`,
)

/**
 * Looks again when nobody else can take what is left, until the end of the transaction: of requests that
 * come at the same moment only as many are taken as the limit has room for.
 */
export async function limitUnderLock(db: PoolClient, projectId: string): Promise<Limit | null> {
	await lockUsage(db, [projectId])
	const [row] = await limitOfTransactional(db, [projectId])
	return row!.limit
}

/** $1 project, $2 the limits, null for as much as they like: those that are not given stay as they are */
const writeLimits = statement(
	'write-limits',
	`insert into billing_accounts as a (project_id, workflows_limit, campaigns_limit,
		transactional_limit, inbound_limit)
	select $1, workflows, campaigns, transactional, inbound from jsonb_to_record($2::jsonb)
		as l(workflows int, campaigns int, transactional int, inbound int)
	on conflict (project_id) do update set updated_at = now(),
		workflows_limit = case when $2::jsonb ? 'workflows' then excluded.workflows_limit
			else a.workflows_limit end,
		campaigns_limit = case when $2::jsonb ? 'campaigns' then excluded.campaigns_limit
			else a.campaigns_limit end,
		transactional_limit = case when $2::jsonb ? 'transactional' then excluded.transactional_limit
			else a.transactional_limit end,
		inbound_limit = case when $2::jsonb ? 'inbound' then excluded.inbound_limit
			else a.inbound_limit end`,
)

export const setLimits = (pool: Pool, projectId: string, limits: Record<string, number | null>) =>
	writeLimits(pool, [projectId, JSON.stringify(limits)])
