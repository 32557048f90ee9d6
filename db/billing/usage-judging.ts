import type { Pool } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { type Readers, readersOf } from '../projects/members.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import type { LimitedCategory } from './usage-notice.ts'
import type { Limit } from './usage-standing.ts'

/** Folds what every project's mails have come to. */
export const foldUsage = statement(
	'fold-usage',
	`select fold_usage(project_id) from (select distinct project_id from usage_tallies) p`,
)

/** How a project stands that has used something since somebody looked, or has a campaign under way. */
export interface Judgement {
	project_id: string
	/** This month's, as far as there are any. */
	limits: Limit[]
	/** Whether one of its campaigns goes, or waits for a limit. */
	has_running: boolean
	has_held: boolean
	/** What was looked at, for `markJudged`. */
	seen: object[]
}

/** Those that there may be something to do about. $1 how many at most */
export const projectsToJudge = statement<Judgement>(
	'projects-to-judge',
	`with campaign as materialized (
		select project_id, bool_or(paused_at is null) as has_running,
			bool_or(coalesce(paused_reason = 'BILLING_LIMIT', false)) as has_held
		from campaigns where status = 'SENDING' and closed_at is null group by project_id
	), unjudged as materialized (
		select project_id, jsonb_agg(jsonb_build_object('project_id', project_id, 'month', month,
			'category', category, 'used', used)) as seen
		from usage_counts where used <> judged group by project_id limit $1::int
	)
	select project_id, coalesce(has_running, false) as has_running, coalesce(has_held, false) as has_held,
		coalesce(seen, '[]') as seen, standing.limits
	from unjudged full join (select * from campaign where has_running or has_held) c using (project_id)
	cross join lateral (
		select coalesce(jsonb_agg(jsonb_build_object('category', category, 'limit', allowed, 'usage', used))
			filter (where allowed is not null), '[]') as limits
		from usage_standing(project_id)
	) standing`,
)

/**
 * What was counted since is still to be looked at, and so is what somebody counts at this moment: who
 * holds counts of many projects waits for nobody who may be waiting for them. $1 all that was seen
 */
export const markJudged = statement(
	'mark-usage-judged',
	`with seen as materialized (
		select c.project_id, c.month, c.category, s.used
		from jsonb_to_recordset($1::jsonb) as s(project_id uuid, month date, category text, used int)
		join usage_counts c on c.project_id = s.project_id and c.month = s.month and c.category = s.category
		where c.judged <> s.used for no key update of c skip locked
	)
	update usage_counts c set judged = seen.used from seen
	where c.project_id = seen.project_id and c.month = seen.month and c.category = seen.category`,
)

const noteTold = statement<Readers>(
	'note-usage-told',
	`with told as (
		insert into usage_notices (project_id, month, category, level)
		values ($1, date_trunc('month', now(), 'UTC')::date, $2, $3) on conflict do nothing
		returning project_id
	)
	select ${readersOf('p')}
	from told join projects p on p.id = told.project_id and p.deleted_at is null`,
)

export interface Notice {
	projectId: string
	category: LimitedCategory
	level: number
}

/** Queues the mails of a notice, once a month: whoever comes second queues nothing. */
export const tellOfUsage = (
	pool: Pool,
	{ projectId, category, level }: Notice,
	mailsTo: (told: Readers) => Promise<PlatformMail[]>,
) =>
	transaction(pool, async (db) => {
		const [told] = await noteTold(db, [projectId, category, level])
		if (!told) return false
		const mails = await mailsTo(told)
		await queuePlatformMails(db, [JSON.stringify(mails)])
		return true
	})
