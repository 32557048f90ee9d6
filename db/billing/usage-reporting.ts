import type { Pool } from 'pg'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

// What was sent and is not in a report yet becomes one, in its own transaction; then Stripe is told of
// the reports, each under its id. Whoever dies in between leaves a report that the next run finds.

/** Late by an hour, the invoice of a month is still a draft. */
const unreported = (of: string, where: string) => `${of} as (
		select n.project_id, n.month, a.customer_id, n.sent - coalesce(r.value, 0) as value,
			least(now(), case when now() < month_end + interval '1 hour'
				then month_end - interval '1 second' else now() end) as at
		from billing_accounts a cross join lateral (
			select project_id, month, sum(sent)::int as sent,
				(month + interval '1 month') at time zone 'UTC' as month_end
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

/** What a project has sent, for its customer to pay. $1 project */
export const noteUsage = statement(
	'note-usage',
	`with ${unreported('sent', 'a.project_id = $1 and a.customer_id is not null')}
	insert into usage_reports (project_id, month, value, customer_id, at)
	select project_id, month, value, customer_id, at from sent`,
)

/** The same, for nobody to pay. $1 project */
export const skipUsage = statement(
	'skip-usage',
	`with ${unreported('sent', 'a.project_id = $1')}
	insert into usage_reports (project_id, month, value, at, reported_at)
	select project_id, month, value, at, now() from sent`,
)

/** Of a project: what it has sent and is in no report. */
export const unreportedUsage = (project: string) => `
	select (coalesce((select sum(sent) from usage_counts where project_id = ${project}), 0)
		+ coalesce((select sum(sent) from usage_tallies where project_id = ${project}), 0)
		- coalesce((select sum(value) from usage_reports where project_id = ${project}), 0))::int
		as unreported`

const subscribers = statement<{ id: string }>(
	'subscribers',
	`select project_id as id from billing_accounts
	where subscribed and customer_id is not null and project_id > $1 order by project_id limit $2::int`,
)

/**
 * In a statement of its own, so that the next one sees what others did under the lock. Who needs the
 * project's row as well takes it after this one: to note usage is to refer to the project. $1 project
 */
export const lockBillingAccount = statement<{ subscribed: boolean }>(
	'lock-billing-account',
	`select subscribed from billing_accounts where project_id = $1 for no key update`,
)

/** A page of projects that pay. Under the account's lock, so that nothing comes into two reports. */
export async function noteUsageOf(pool: Pool, after: string, rows: number) {
	const page = await subscribers(pool, [after, rows])
	for (const { id } of page)
		await transaction(pool, async (db) => {
			const [account] = await lockBillingAccount(db, [id])
			if (account?.subscribed) await noteUsage(db, [id])
		})
	return page.length < rows ? null : page.at(-1)!.id
}

export interface Report {
	project_id: string
	id: string
	customer_id: string
	value: number
	/** In seconds. */
	at: number
}

/** Stripe knows an identifier again for a day at least. */
const identifierLifeHours = 23

/**
 * A page of what Stripe is to be told. What it may have been told longer ago is left to a person, for
 * nobody shall pay twice. What somebody moves or takes away at this moment is left to the next run.
 * $1 the last id of the page before, $2 rows
 */
export const pendingReports = statement<Report>(
	'pending-reports',
	`update usage_reports r set attempted_at = coalesce(attempted_at, now()) from (
		select project_id, month, id from usage_reports
		where reported_at is null and id > $1
			and coalesce(attempted_at, now()) > now() - interval '${identifierLifeHours} hours'
		order by id limit $2::int for no key update skip locked
	) due where r.project_id = due.project_id and r.month = due.month and r.id = due.id
	returning r.project_id, r.id, r.customer_id, r.value, extract(epoch from r.at)::int as at`,
)

/** $1 project, $2 id */
export const markReported = statement(
	'mark-reported',
	`update usage_reports set reported_at = now(), error = null where project_id = $1 and id = $2`,
)

/** Stripe has surely not counted it: it may be told again at any time. $1 project, $2 id, $3 error */
export const markRefused = statement(
	'mark-refused',
	`update usage_reports set attempted_at = null, error = $3 where project_id = $1 and id = $2`,
)

/** What waits, and what of it a person has to look at. */
export const countPending = statement<{ pending: number; doubtful: number }>(
	'count-pending-reports',
	`select count(*)::int as pending, (count(*) filter (
		where attempted_at <= now() - interval '${identifierLifeHours} hours'))::int as doubtful
	from usage_reports where reported_at is null`,
)
