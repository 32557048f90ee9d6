import type { Pool } from 'pg'
import { bool, int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

// Usage without a report becomes a report in its own transaction. After that it is sent to Stripe under
// its id. After a crash in between, the next run finds the report.

const monthEnd = (month: string) => `(${month} + interval '1 month') at time zone 'UTC'`

/** An hour later, the invoice of a month is still a draft. */
const isBillable = (end: string) => `now() < ${end} + interval '1 hour'`

const unreported = (of: string, where: string) => `${of} as (
		select n.project_id, n.month, a.customer_id, n.sent - coalesce(r.value, 0) as value,
			least(now(), case when ${isBillable('month_end')} then month_end - interval '1 second' else now() end) as at
		from billing_accounts a cross join lateral (
			select project_id, month, sum(sent)::int as sent, ${monthEnd('month')} as month_end
			from (
				select project_id, month, sent from usage_counts where project_id = a.project_id
				union all
				select project_id, month, sent from usage_tallies where project_id = a.project_id
			) counted group by project_id, month
		) n left join lateral (
			select sum(value)::int as value from usage_reports
			where project_id = n.project_id and month = n.month
		) r on true
		where ${where} and n.sent > coalesce(r.value, 0)
	)`

/** Creates reports of a project's usage, for its customer to pay. */
export const createReports = statement('create-usage-reports', {
	params: { projectId: uuid },
	text: `with ${unreported('sent', 'a.project_id = $projectId and a.customer_id is not null')}
	insert into usage_reports (project_id, month, value, customer_id, at)
	select project_id, month, value, customer_id, at from sent`,
})

/** The same, but nobody pays. */
export const skipUsage = statement('skip-usage', {
	params: { projectId: uuid },
	text: `with ${unreported('sent', 'a.project_id = $projectId')}
	insert into usage_reports (project_id, month, value, at, reported_at)
	select project_id, month, value, at, now() from sent`,
})

/** The usage of a project that is in no report. */
export const unreportedUsage = (project: string) => `
	select (coalesce((select sum(sent) from usage_counts where project_id = ${project}), 0)
		+ coalesce((select sum(sent) from usage_tallies where project_id = ${project}), 0)
		- coalesce((select sum(value) from usage_reports where project_id = ${project}), 0))::int
		as unreported`

const subscribers = statement('subscribers', {
	params: { after: uuid, limit: int },
	row: { id: uuid },
	text: `select project_id as id from billing_accounts
	where subscribed and customer_id is not null and project_id > $after order by project_id
		limit $limit::int`,
})

/**
 * A statement of its own, so that the next statement sees changes made under the lock. The project's row
 * is locked after this one, because creating a report refers to the project.
 */
export const lockBillingAccount = statement('lock-billing-account', {
	params: { projectId: uuid },
	row: { subscribed: bool },
	text: `select subscribed from billing_accounts where project_id = $projectId for no key update`,
})

/** One page of paying projects. The account is locked, so that no usage gets into two reports. */
export async function createReportsOfPage(pool: Pool, after: string, rows: number) {
	const page = await subscribers(pool, { after, limit: rows })
	for (const { id } of page)
		await transaction(pool, async (db) => {
			const [account] = await lockBillingAccount(db, { projectId: id })
			if (account?.subscribed) await createReports(db, { projectId: id })
		})
	return page.length < rows ? null : page.at(-1)!.id
}

/** Stripe recognises a repeated identifier for at least a day. */
export const identifierLifeHours = 23

/** Reports that may have been sent longer ago are left to a person, because nobody should pay twice. */
const isPending = `reported_at is null
	and coalesce(attempted_at, now()) > now() - interval '${identifierLifeHours} hours'`

/** One page of reports for Stripe, in order. Those that another process is moving or deleting are left to the next run. */
export const pendingReports = statement('pending-reports', {
	params: { after: uuid, limit: int },
	row: { project_id: uuid, id: uuid },
	text: `select project_id, id from usage_reports where ${isPending} and id > $after
		order by id limit $limit::int for no key update skip locked`,
})

/**
 * Marks a report immediately before its request: if the requests before it fail, it has certainly not reached Stripe. It
 * may have waited until its month can no longer be billed: then it is billed now, unless Stripe may have it. No row:
 * another process has it.
 */
export const attemptReport = statement('attempt-report', {
	params: { projectId: uuid, reportId: uuid },
	row: {
		customer_id: text.notNull('only skipped usage has none, and that is not pending'),
		value: int,
		/** In seconds. */
		at: int,
		/** No earlier try may have reached Stripe. */
		is_first: bool,
	},
	text: `update usage_reports r set attempted_at = coalesce(attempted_at, now()),
		at = case when attempted_at is not null or ${isBillable(monthEnd('month_of(at)'))} then at else now() end
	from (
		select project_id, month, id from usage_reports
		where project_id = $projectId and id = $reportId and ${isPending} for no key update skip locked
	) due where r.project_id = due.project_id and r.month = due.month and r.id = due.id
	returning r.customer_id, r.value, extract(epoch from r.at)::int as at, old.attempted_at is null as is_first`,
})

/** The only try was turned away before Stripe looked at the report. */
export const unmarkAttempt = statement('unmark-attempt', {
	params: { projectId: uuid, reportId: uuid },
	text: `update usage_reports set attempted_at = null where project_id = $projectId and id = $reportId
		and reported_at is null`,
})

export const markReported = statement('mark-reported', {
	params: { projectId: uuid, reportId: uuid },
	text: `update usage_reports set reported_at = now(), error = null where project_id = $projectId
		and id = $reportId`,
})

/** Stripe has certainly not counted it, so it may be reported again at any time. */
export const markRefused = statement('mark-refused', {
	params: { projectId: uuid, reportId: uuid, error: text },
	text: `update usage_reports set attempted_at = null, error = $error
		where project_id = $projectId and id = $reportId`,
})

/** The number of waiting reports, and of those that a person has to check. */
export const countPending = statement('count-pending-reports', {
	params: {},
	row: { pending: int, doubtful: int },
	text: `select count(*)::int as pending, (count(*) filter (
		where attempted_at <= now() - interval '${identifierLifeHours} hours'))::int as doubtful
	from usage_reports where reported_at is null`,
})
