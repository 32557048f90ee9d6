import type { Pool } from 'pg'
import { removeEntriesOfOldMails } from './analytics/feed-entry.ts'
import { foldOldTallies } from './campaigns/campaign-counts.ts'
import { platformProjectId } from './emails/platform-mail.ts'
import { removeOldErrors } from './jobs/job-error.ts'
import { isCleanup } from './outbox/cleanups.ts'
import { int } from './sql-types.ts'
import { statement } from './statement.ts'

// Deletes expired rows, page by page: each statement deletes some rows and returns their number.

export interface Chore {
	/** What is deleted, in words for operators. */
	what: string
	/** Deletes some rows; `days` is how long the contents of mails are kept, or the ledger. */
	remove: (pool: Pool, limit: number, days: number) => Promise<number>
}

type Removal<Given> = (pool: Pool, given: Given) => Promise<{ removed: number }[]>

const counted =
	(remove: Removal<{ limit: number }>): Chore['remove'] =>
	async (pool, limit) =>
		(await remove(pool, { limit }))[0]!.removed

const row = { removed: int }
const removal = (name: string, text: string) =>
	counted(statement(name, { params: { limit: int }, row, text }))

const countedByAge =
	(remove: Removal<{ limit: number; days: number }>): Chore['remove'] =>
	async (pool, limit, days) =>
		(await remove(pool, { limit, days }))[0]!.removed

const removalByAge = (name: string, text: string) =>
	countedByAge(statement(name, { params: { limit: int, days: int }, row, text }))

/** Rows of a table that meet a condition, by key, in the order of the condition's column. */
const rowsOf = (table: string, key: string, condition: string, order: string) =>
	`with due as (
		select ${key} from ${table} where ${condition}
		order by ${order} limit $limit::int for update skip locked
	), gone as (
		delete from ${table} t using due where (${columns('t', key)}) = (${columns('due', key)}) returning 1
	)
	select count(*)::int as removed from gone`
const columns = (alias: string, key: string) =>
	key
		.split(', ')
		.map((column) => `${alias}.${column}`)
		.join(', ')

const expired = (what: string, table: string, key: string): Chore => ({
	what,
	remove: removal(
		`remove-expired-${table}`,
		rowsOf(table, key, 'expires_at <= now()', 'expires_at'),
	),
})

/**
 * The contents of mails after their retention period; the ledger stays. The mails of one request have the
 * same creation time. Its files are deleted once none of its mails is waiting.
 */
export const bodies: Chore = {
	what: 'bodies of mails',
	remove: removalByAge(
		'remove-old-bodies',
		`with due as (
			select project_id, id, request_id, created_at from emails
			where body is not null and created_at < now() - make_interval(days => $days::int)
				and not (is_unsettled(status))
			order by created_at limit $limit::int for no key update skip locked
		), purged as (
			update emails e set body = null, "text" = null from due
			where e.project_id = due.project_id and e.id = due.id returning 1
		), files as (
			delete from attachments a using due
			where a.project_id = due.project_id and a.request_id = due.request_id and not exists (
				select from emails e where e.body is not null and e.created_at = due.created_at
					and e.project_id = due.project_id and e.request_id = due.request_id
					and is_unsettled(e.status))
		)
		select count(*)::int as removed from purged`,
	),
}

/** Only if the ledger is not kept for ever. */
export const activitiesOfMails: Chore = {
	what: 'activities of old mails',
	remove: countedByAge(removeEntriesOfOldMails),
}

/**
 * The contents of our own mails, which may have links with tokens. Finds them by their ids. Links of mails that are
 * older than eight days are no longer valid; `bodies` deletes these.
 */
const platformBodies: Chore = {
	what: 'contents of our own mails',
	remove: removal(
		'remove-platform-bodies',
		`with due as (
			select project_id, id from emails
			where project_id = '${platformProjectId}' and id >= first_id_at(now() - interval '8 days')
				and created_at < now() - interval '1 hour' and body is not null
				and not (is_unsettled(status))
			order by id limit $limit::int for no key update skip locked
		), purged as (
			update emails e set body = null, "text" = null from due
			where e.project_id = due.project_id and e.id = due.id returning 1
		)
		select count(*)::int as removed from purged`,
	),
}

/**
 * Fields that have lost so many kept values that too few may soon be left to list. Their contacts are read
 * here, so that no request has to wait for it.
 */
const thinFields: Chore = {
	what: 'fields counted again',
	remove: removal(
		'recount-thin-fields',
		`with thin as materialized (
			select distinct project_id, key from contact_fields f
			where bound is not null and (select count(*) from (
				select from contact_field_values v
				where v.project_id = f.project_id and v.key = f.key and v.type = f.type limit 300) v) < 300
			limit least($limit::int, 1)
		), counted as materialized (
			select recount_contact_field(project_id, key) from thin
		)
		select count(*)::int as removed from counted`,
	),
}

/**
 * The remains of deleted workflows. Executions stay until their runs are closed, because without the row
 * nothing would close the run, and it would wait forever.
 */
const abandoned: Chore = {
	what: 'executions of deleted workflows',
	remove: removal(
		'remove-abandoned-executions',
		`with due as materialized (
			select x.project_id, x.id from removed_automations a cross join lateral (
				select x.project_id, x.id from executions x
				where x.project_id = a.project_id and x.automation_id = a.id and not x.is_closing
				order by x.id limit $limit::int for update skip locked) x
			limit $limit::int
		), gone as (
			delete from executions x using due
			where x.project_id = due.project_id and x.id = due.id returning 1
		), done as (
			delete from removed_automations a where not exists (
				select from executions x where x.project_id = a.project_id and x.automation_id = a.id)
		)
		select count(*)::int as removed from gone`,
	),
}

/** The members of deleted segments. Nobody adds any: that takes a lock on the segment. */
const formerMembers: Chore = {
	what: 'members of deleted segments',
	remove: removal(
		'remove-members-of-deleted-segments',
		`with due as materialized (
			select m.project_id, m.segment_id, m.contact_id from removed_segments r cross join lateral (
				select m.project_id, m.segment_id, m.contact_id from segment_members m
				where m.project_id = r.project_id and m.segment_id = r.id
				order by m.contact_id limit $limit::int for update skip locked) m
			limit $limit::int
		), gone as (
			delete from segment_members m using due
			where (m.project_id, m.segment_id, m.contact_id) = (due.project_id, due.segment_id, due.contact_id)
			returning 1
		), done as (
			delete from removed_segments r where not exists (
				select from segment_members m where m.project_id = r.project_id and m.segment_id = r.id)
		)
		select count(*)::int as removed from gone`,
	),
}

/** An endpoint's deliveries are in order of time. Those of deleted endpoints go whatever their age. */
const webhookDeliveries: Chore = {
	what: 'old deliveries of webhooks',
	remove: removal(
		'remove-old-webhook-deliveries',
		`with due as materialized (
			select d.project_id, d.endpoint_id, d.id from webhook_endpoints w cross join lateral (
				select d.project_id, d.endpoint_id, d.id from webhook_deliveries d
				where d.project_id = w.project_id and d.endpoint_id = w.id
					-- One bound of the index for both, so that younger deliveries are not read.
					and d.id < case when w.deleted_at is null then first_id_at(now() - interval '30 days')
						else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end
				order by d.id limit $limit::int) d
			limit $limit::int
		), gone as (
			delete from webhook_deliveries d using due
			where d.project_id = due.project_id and d.endpoint_id = due.endpoint_id and d.id = due.id returning 1
		)
		select count(*)::int as removed from gone`,
	),
}

/** A day later no transaction is left that could still write a delivery for it. */
const webhookEndpoints: Chore = {
	what: 'deleted webhook endpoints',
	remove: removal(
		'remove-deleted-webhook-endpoints',
		`with due as (
			select w.id from webhook_endpoints w
			where w.deleted_at < now() - interval '1 day' and not exists (
				select from webhook_deliveries d where d.project_id = w.project_id and d.endpoint_id = w.id)
				and not exists (
					select from webhook_batches b where b.project_id = w.project_id and b.endpoint_id = w.id)
			order by w.deleted_at limit $limit::int for update skip locked
		), gone as (
			delete from webhook_endpoints w using due where w.id = due.id returning 1
		)
		select count(*)::int as removed from gone`,
	),
}

const jobEnded = (table: string) =>
	`exists (select from jobs j where j.project_id = ${table}.project_id and j.id = ${table}.job_id
		and j.finished_at < now() - interval '1 day')`

export const chores: Chore[] = [
	expired('idempotency keys', 'idempotency_keys', 'project_id, key'),
	expired('sessions', 'sessions', 'id'),
	{
		what: 'requests counted',
		remove: removal(
			'remove-old-request-budgets',
			rowsOf(
				'request_budgets',
				'project_id, spender',
				`window_start < now() - interval '1 hour'`,
				'window_start',
			),
		),
	},
	expired('tokens of accounts', 'account_tokens', 'digest'),
	expired('throttles', 'throttles', 'key'),
	expired('invitations', 'invitations', 'project_id, email'),
	bodies,
	platformBodies,
	{
		what: 'mails in the local mailbox',
		remove: removalByAge(
			'remove-old-mailbox-messages',
			rowsOf(
				'mailbox_messages',
				'id',
				'received_at < now() - make_interval(days => $days::int)',
				'id',
			),
		),
	},
	{
		what: 'rows of the outbox',
		// Rows of `send` count their project's runs and are deleted with them; so are those of cleanups.
		remove: removal(
			'remove-done-outbox',
			rowsOf(
				'outbox',
				'id',
				`done_at < now() - interval '1 hour' and workflow_type is distinct from 'send'
					and (${isCleanup}) is not true`,
				'id',
			),
		),
	},
	{
		what: 'ended enrolments',
		remove: removal(
			'remove-ended-enrolments',
			rowsOf(
				'enrolments',
				'project_id, automation_id, scheduled_for',
				`ended_at < now() - case when error is null then interval '1 day' else interval '30 days' end`,
				'ended_at',
			),
		),
	},
	{
		what: 'files of ended imports',
		remove: removal(
			'remove-ended-import-files',
			rowsOf('import_files', 'project_id, job_id', jobEnded('import_files'), 'job_id'),
		),
	},
	{
		what: 'staged rows of ended imports',
		remove: removal(
			'remove-ended-import-chunks',
			rowsOf('import_chunks', 'project_id, job_id, position', jobEnded('import_chunks'), 'job_id'),
		),
	},
	{
		what: 'contacts that ended jobs did not come to',
		remove: removal(
			'remove-ended-job-contacts',
			rowsOf('job_contacts', 'project_id, job_id, position', jobEnded('job_contacts'), 'job_id'),
		),
	},
	{
		what: 'notes of imports that can no longer be undone',
		remove: removal(
			'remove-old-import-changes',
			rowsOf(
				'import_changes',
				'project_id, job_id, position',
				`changed_at < now() - interval '8 days'`,
				'job_id',
			),
		),
	},
	{
		what: 'restored contacts that no import can find any more',
		remove: removal(
			'remove-old-restored-contacts',
			rowsOf(
				'restored_contacts',
				'project_id, contact_id, restored_at',
				`restored_at < now() - interval '8 days'`,
				'restored_at',
			),
		),
	},
	{
		what: 'deleted contacts whose campaigns have written all mails',
		remove: removal(
			'remove-old-removed-contacts',
			rowsOf(
				'removed_contacts',
				'project_id, id',
				`project_id in (
					select project_id from (select distinct project_id from removed_contacts) p
					where not has_mails_to_come(project_id))`,
				'project_id, id',
			),
		),
	},
	{
		what: 'old notes of changes',
		remove: removal(
			'remove-old-audit-entries',
			rowsOf(
				'audit_entries',
				'project_id, id',
				`created_at < now() - interval '400 days'`,
				'created_at',
			),
		),
	},
	abandoned,
	formerMembers,
	webhookDeliveries,
	webhookEndpoints,
	thinFields,
	{ what: 'errors of old jobs', remove: counted(removeOldErrors) },
	{ what: 'tallies of campaigns', remove: counted(foldOldTallies) },
]
