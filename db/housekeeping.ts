import { foldOldTallies } from './campaigns/campaign-counts.ts'
import { isUnsettled } from './emails/email.ts'
import { removeOldErrors } from './jobs/job-error.ts'
import { isErrand } from './outbox/errands.ts'
import { statement } from './statement.ts'

// What has served its time, page by page: each statement takes some of it away and says how much.

interface Removed {
	removed: number
}

interface Chore {
	/** What goes, as an operator reads it. */
	what: string
	/** $1 how many at most; of those by age $2 days for which what mails said is kept */
	remove: ReturnType<typeof statement<Removed>>
	byAge?: true
}

/** Rows of a table, by its key, that meet a condition; in the order of what the condition is about. */
const rowsOf = (table: string, key: string, condition: string, order: string) =>
	`with due as (
		select ${key} from ${table} where ${condition}
		order by ${order} limit $1::int for update skip locked
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
	remove: statement(
		`remove-expired-${table}`,
		rowsOf(table, key, 'expires_at <= now()', 'expires_at'),
	),
})

/**
 * What mails said, once it was kept long enough: the ledger stays. Mails of one request were created at
 * one moment; their files go when none of them is still to be sent.
 */
const bodies: Chore = {
	what: 'bodies of mails',
	byAge: true,
	remove: statement(
		'remove-old-bodies',
		`with due as (
			select project_id, id, request_id, created_at from emails
			where body is not null and created_at < now() - make_interval(days => $2::int)
				and not (${isUnsettled('status')})
			order by created_at limit $1::int for no key update skip locked
		), purged as (
			update emails e set body = null from due
			where e.project_id = due.project_id and e.id = due.id returning 1
		), files as (
			delete from attachments a using due
			where a.project_id = due.project_id and a.request_id = due.request_id and not exists (
				select from emails e where e.body is not null and e.created_at = due.created_at
					and e.project_id = due.project_id and e.request_id = due.request_id
					and ${isUnsettled('e.status')})
		)
		select count(*)::int as removed from purged`,
	),
}

/**
 * Fields of which so many of the kept values went that soon too few would be left to list: their
 * contacts are looked through here, so that nobody who asks has to wait for it.
 */
const thinFields: Chore = {
	what: 'fields counted again',
	remove: statement(
		'recount-thin-fields',
		`with thin as materialized (
			select distinct project_id, key from contact_fields f
			where bound is not null and (select count(*) from (
				select from contact_field_values v
				where v.project_id = f.project_id and v.key = f.key and v.type = f.type limit 300) v) < 300
			limit least($1::int, 1)
		), counted as materialized (
			select recount_contact_field(project_id, key) from thin
		)
		select count(*)::int as removed from counted`,
	),
}

/**
 * What deleted workflows leave behind. Executions whose runs are still to be closed stay until they are:
 * these would wait for ever.
 */
const abandoned: Chore = {
	what: 'executions of deleted workflows',
	remove: statement(
		'remove-abandoned-executions',
		`with due as materialized (
			select x.project_id, x.id from removed_automations a cross join lateral (
				select x.project_id, x.id from executions x
				where x.project_id = a.project_id and x.automation_id = a.id and not x.is_closing
				order by x.id limit $1::int for update skip locked) x
			limit $1::int
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

const jobEnded = (table: string) =>
	`exists (select from jobs j where j.project_id = ${table}.project_id and j.id = ${table}.job_id
		and j.finished_at < now() - interval '1 day')`

export const chores: Chore[] = [
	expired('idempotency keys', 'idempotency_keys', 'project_id, key'),
	expired('sessions', 'sessions', 'id'),
	{
		what: 'requests counted',
		remove: statement(
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
	{
		what: 'mails in the local mailbox',
		byAge: true,
		remove: statement(
			'remove-old-mailbox-messages',
			rowsOf(
				'mailbox_messages',
				'id',
				'received_at < now() - make_interval(days => $2::int)',
				'id',
			),
		),
	},
	{
		what: 'rows of the outbox',
		// A row of `send` is how its project's runs are counted, and goes with its run; as errands do.
		remove: statement(
			'remove-done-outbox',
			rowsOf(
				'outbox',
				'id',
				`done_at < now() - interval '1 hour' and workflow_type is distinct from 'send'
					and (${isErrand}) is not true`,
				'id',
			),
		),
	},
	{
		what: 'ended enrolments',
		remove: statement(
			'remove-ended-enrolments',
			rowsOf(
				'enrolments',
				'project_id, automation_id, scheduled_for',
				`ended_at < now() - interval '1 day'`,
				'ended_at',
			),
		),
	},
	{
		what: 'files of ended imports',
		remove: statement(
			'remove-ended-import-files',
			rowsOf('import_files', 'project_id, job_id', jobEnded('import_files'), 'job_id'),
		),
	},
	{
		what: 'staged rows of ended imports',
		remove: statement(
			'remove-ended-import-chunks',
			rowsOf('import_chunks', 'project_id, job_id, position', jobEnded('import_chunks'), 'job_id'),
		),
	},
	{
		what: 'contacts that ended jobs did not come to',
		remove: statement(
			'remove-ended-job-contacts',
			rowsOf('job_contacts', 'project_id, job_id, position', jobEnded('job_contacts'), 'job_id'),
		),
	},
	{
		what: 'notes of imports that can no longer be undone',
		remove: statement(
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
		remove: statement(
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
		what: 'old notes of changes',
		remove: statement(
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
	thinFields,
	{ what: 'errors of old jobs', remove: removeOldErrors },
	{ what: 'tallies of campaigns', remove: foldOldTallies },
]
