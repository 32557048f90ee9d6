import type { Pool } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { readersColumns, type Readers } from '../projects/members.ts'
import { bool, int, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import type { LimitedCategory } from './usage-notice.ts'
import type { Limit } from './usage-standing.ts'

/** Folds the usage of all projects. */
export const foldUsage = statement('fold-usage', {
	params: {},
	text: `select fold_usage(project_id) from (select distinct project_id from usage_tallies) p`,
})

/** A project that has new usage since the last comparison, or a campaign under way. */
export type Judgement = RowOf<typeof projectsToJudge>

/** The projects that may need an action. */
export const projectsToJudge = statement('projects-to-judge', {
	params: { limit: int },
	row: {
		project_id: uuid,
		/** The limits of this month, if any. */
		limits: json<Limit[]>(),
		/** Whether one of its campaigns is being sent, or is paused by a limit. */
		has_running: bool,
		has_held: bool,
		/** The compared usage, for `markJudged`. */
		seen: json<object[]>(),
	},
	text: `with campaign as materialized (
		select project_id, bool_or(paused_at is null) as has_running,
			bool_or(coalesce(paused_reason = 'BILLING_LIMIT', false)) as has_held
		from campaigns where status = 'SENDING' and closed_at is null group by project_id
	), unjudged as materialized (
		select project_id, jsonb_agg(jsonb_build_object('project_id', project_id, 'month', month,
			'category', category, 'used', used)) as seen
		from usage_counts where used <> judged group by project_id limit $limit::int
	)
	select project_id, coalesce(has_running, false) as has_running, coalesce(has_held, false) as has_held,
		coalesce(seen, '[]') as seen, standing.limits
	from unjudged full join (select * from campaign where has_running or has_held) c using (project_id)
	cross join lateral (
		select coalesce(jsonb_agg(jsonb_build_object('category', category, 'limit', allowed, 'usage', used))
			filter (where allowed is not null), '[]') as limits
		from usage_standing(project_id)
	) standing`,
})

/**
 * Usage counted since remains to be compared, and so does usage that another process is counting at this
 * moment. Whoever locks the counts of many projects must not wait for a process that may be waiting for
 * them.
 */
export const markJudged = statement('mark-usage-judged', {
	params: { judgements: json<object>() },
	text: `with seen as materialized (
		select c.project_id, c.month, c.category, s.used
		from jsonb_to_recordset($judgements::jsonb) as s(project_id uuid, month date, category text,
			used int)
		join usage_counts c on c.project_id = s.project_id and c.month = s.month and c.category = s.category
		where c.judged <> s.used for no key update of c skip locked
	)
	update usage_counts c set judged = seen.used from seen
	where c.project_id = seen.project_id and c.month = seen.month and c.category = seen.category`,
})

/** No row: somebody else has it, or since the comparison the limit was changed or the month ended. */
const claimNotice = statement('claim-usage-notice', {
	params: { projectId: uuid, category: text, limit: int, level: int },
	row: readersColumns,
	text: `with claimed as (
		insert into usage_notices (project_id, month, category, level)
		select $projectId, month_of(now()), category, $level::int from usage_standing($projectId)
			where category = $category::text and allowed = $limit::int and used * 100 >= allowed::int8 * $level::int
			on conflict do nothing
		returning project_id
	)
	select p.name as project, p.language, readers_of(p.id) as members
	from claimed join projects p on p.id = claimed.project_id and p.deleted_at is null`,
})

export interface Notice {
	projectId: string
	category: LimitedCategory
	limit: number
	level: number
}

/** Queues the mails of a notice, once a month. A second caller queues nothing. */
export const notifyOfUsage = (
	pool: Pool,
	notice: Notice,
	mailsTo: (readers: Readers) => Promise<PlatformMail[]>,
) =>
	transaction(pool, async (db) => {
		const [readers] = await claimNotice(db, notice)
		if (!readers) return false
		const mails = await mailsTo(readers)
		await queuePlatformMails(db, { mails })
		return true
	})
