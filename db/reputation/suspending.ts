import type { Pool } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { type Readers, readersOf } from '../projects/members.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

// A project is suspended in the database at once (`suspend_project`): from then on nothing of it is
// handed over. What follows is carried out by the workflow `suspendProject`, by these steps.

export interface SuspensionKey {
	projectId: string
	suspensionId: string
}

/** No row: it was enabled again meanwhile. $1 project */
export const stillDisabled = statement<{ id: string }>(
	'still-disabled',
	`select id from projects where id = $1 and disabled_reason is not null`,
)

/**
 * A chunk of the mails that wait, cancelled; nothing if the project was enabled again meanwhile.
 * `last` is null when there are no more. $1 project, $2 the last row of the chunk before, $3 rows
 */
export const cancelQueued = statement<{ last: string | null; cancelled: number }>(
	'cancel-queued-mails',
	`with page as materialized (
		select id, email_ids from queued_sends where project_id = $1 and id > $2::int8
		order by id limit $3::int
	), cancelled as (
		update emails e set status = 'CANCELLED', updated_at = now(),
			error = 'The project is disabled: ' || p.disabled_reason
		from projects p, page cross join lateral unnest(page.email_ids) as m(id)
		where p.id = $1 and p.disabled_reason is not null
			and e.project_id = $1 and e.id = m.id and e.status = 'PENDING'
		returning 1
	)
	select (select max(id) from page) as last, (select count(*)::int from cancelled) as cancelled`,
)

export interface Told extends Readers {
	/** null: the reason is not the reputation, and whoever disabled it tells. */
	signal: 'bounces' | 'complaints' | null
}

/** Whom to tell, and what. No row: they know, or it is told by somebody else. $1 project, $2 suspension */
export const toBeTold = statement<Told>(
	'suspension-to-be-told',
	`select s.signal, ${readersOf('p')}
	from suspensions s join projects p on p.id = s.project_id
	where s.project_id = $1 and s.id = $2 and s.told_at is null`,
)

const markTold = statement<{ id: string }>(
	'mark-suspension-told',
	`update suspensions set told_at = now()
	where project_id = $1 and id = $2 and told_at is null returning id`,
)

/** Queues the members' mails, once; with that a suspension is carried out. */
export const tell = (
	pool: Pool,
	{ projectId, suspensionId }: SuspensionKey,
	mails: PlatformMail[],
) =>
	transaction(pool, async (db) => {
		const [told] = await markTold(db, [projectId, suspensionId])
		if (told) await queuePlatformMails(db, [JSON.stringify(mails)])
	})

/**
 * Enables a project again and closes its suspensions. Its reputation begins anew: by the old one the
 * next bounce would suspend it at once. A payment suspension is for the payment to lift.
 * $1 project, by the id that the API shows
 */
export const liftSuspension = statement<{ name: string; reason: string | null; isLifted: boolean }>(
	'lift-suspension',
	`with project as materialized (
		select id, name, disabled_reason as reason from projects where public_id = $1 for update
	), lifted as (
		update projects p set disabled_reason = null, updated_at = now() from project
		where p.id = project.id and project.reason <> 'PAYMENT_FAILED' returning p.id
	), closed as (
		update suspensions s set lifted_at = now() from lifted
		where s.project_id = lifted.id and s.lifted_at is null
	), tallies as (
		delete from reputation_tallies t using lifted where t.project_id = lifted.id
	), counts as (
		delete from reputation_counts c using lifted where c.project_id = lifted.id
	)
	select name, reason, exists (select from lifted) as "isLifted" from project`,
)
