import type { Pool } from 'pg'
import { type PlatformMail, queuePlatformMails } from '../emails/platform-mail.ts'
import { readersColumns } from '../projects/members.ts'
import { bigint, bool, int, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'

// A project is suspended in the database at once (`suspend_project`): from then on none of its mail is
// handed over. The workflow `suspendProject` does the rest with these statements.

export interface SuspensionKey {
	projectId: string
	suspensionId: string
}

/** No row: it was enabled again meanwhile. */
export const stillDisabled = statement('still-disabled', {
	params: { projectId: uuid },
	row: { id: uuid },
	text: `select id from projects where id = $projectId and disabled_reason is not null`,
})

/**
 * Cancels a chunk of the waiting mails; nothing if the project was enabled again meanwhile. `last` is null
 * when there are no more.
 */
export const cancelQueued = statement('cancel-queued-mails', {
	params: { projectId: uuid, after: bigint, limit: int },
	row: { last: bigint.orNull, cancelled: int },
	text: `with page as materialized (
		select id, email_ids from queued_sends where project_id = $projectId and id > $after::int8
		order by id limit $limit::int
	), cancelled as (
		update emails e set status = 'CANCELLED', updated_at = now(),
			error = 'The project is disabled: ' || p.disabled_reason
		from projects p, page cross join lateral unnest(page.email_ids) as m(id)
		where p.id = $projectId and p.disabled_reason is not null
			and e.project_id = $projectId and e.id = m.id and e.status = 'PENDING'
		returning 1
	)
	select (select max(id) from page) as last, (select count(*)::int from cancelled) as cancelled`,
})

export type SuspensionNotice = RowOf<typeof suspensionNotice>

/** The members to notify, and the reason. No row: they were notified, or another notice covers it. */
export const suspensionNotice = statement('suspension-notice', {
	params: { projectId: uuid, suspensionId: uuid },
	row: {
		...readersColumns,
		/** null: the reason is not the reputation, so whoever disabled the project notifies the members. */
		signal: text.of<'bounces' | 'complaints'>().orNull,
	},
	text: `select s.signal, p.name as project, p.language, readers_of(p.id) as members
	from suspensions s join projects p on p.id = s.project_id
	where s.project_id = $projectId and s.id = $suspensionId and s.told_at is null`,
})

const markNotified = statement('mark-suspension-notified', {
	params: { projectId: uuid, suspensionId: uuid },
	row: { id: uuid },
	text: `update suspensions set told_at = now()
	where project_id = $projectId and id = $suspensionId and told_at is null returning id`,
})

/** Queues the members' mails, once. This completes a suspension. */
export const notifyMembers = (
	pool: Pool,
	{ projectId, suspensionId }: SuspensionKey,
	mails: PlatformMail[],
) =>
	transaction(pool, async (db) => {
		const [marked] = await markNotified(db, { projectId, suspensionId })
		if (marked) await queuePlatformMails(db, { mails })
	})

const lockProject = statement('lock-project-to-enable', {
	params: { publicId: uuid },
	text: `select from projects where public_id = $publicId for update`,
})

const enableProject = statement('enable-project', {
	params: { publicId: uuid },
	row: { id: uuid, name: text, reason: text.orNull, isLifted: bool, isUnpaid: bool },
	text: `with project as materialized (
		select p.id, name, disabled_reason as reason, coalesce(a.payment_failed, false) as is_unpaid
		from projects p left join billing_accounts a on a.project_id = p.id where public_id = $publicId
	), lifted as (
		update projects p set disabled_reason = null, updated_at = now() from project
		where p.id = project.id and reason <> 'PAYMENT_FAILED' returning p.id
	), closed as (
		update suspensions s set lifted_at = now() from lifted
		where s.project_id = lifted.id and s.lifted_at is null
	), tallies as (
		delete from reputation_tallies t using lifted where t.project_id = lifted.id
	), counts as (
		delete from reputation_counts c using lifted where c.project_id = lifted.id
	)
	select id, name, reason, exists (select from lifted) as "isLifted", is_unpaid as "isUnpaid" from project`,
})

/** Suspends a project that is not disabled, for non-payment. */
export const suspendUnpaid = statement('suspend-unpaid', {
	params: { projectId: uuid },
	text: `select suspend_project($projectId, 'PAYMENT_FAILED', null)`,
})

/**
 * Enables a project again and closes its suspensions. Its reputation starts anew, or the next bounce would
 * suspend it at once. Only a payment lifts a suspension for non-payment, so a project whose payment failed while it was
 * disabled for another reason is suspended for that. No row: there is no such project.
 *
 * A fold holds a lock on the project until its commit (`lock_for_folding`), and so does a payment that fails. The lock
 * has a statement of its own, so that the statement after it sees what they have written.
 */
export const liftSuspension = (pool: Pool, key: { publicId: string }) =>
	transaction(pool, async (db) => {
		await lockProject(db, key)
		const [project] = await enableProject(db, key)
		if (project?.isLifted && project.isUnpaid) await suspendUnpaid(db, { projectId: project.id })
		return project
	})
