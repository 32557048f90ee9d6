import { lockedContact } from '../jobs/jobs.ts'
import { statement } from '../statement.ts'

export interface AppliedChunk {
	rows: number
	created: number
	changed: number
	failed: number
	/** Contacts that somebody else created at this moment: roll back, and look again. */
	missed: number
}

/** Small data, as nearly all is, is not worth the call. */
const fits = (data: string) => `(pg_column_size(${data}) < 8192 or contact_data_fits(${data}))`

/**
 * Applies one more chunk of an import by the rules of `upsertContactCtes`, set-based, and notes what it
 * did for the undo. It names the fields it may change for the statistics, which then need not look at all
 * the others. The chunk goes with the deed, so each row happens once, whoever does it; several may
 * be at work on different chunks, which have no contact in common. No row: nothing is left to take.
 *
 * $1 project, $2 job
 */
export const applyChunk = statement<AppliedChunk>(
	'apply-import-chunk',
	`with chunk as materialized (
		delete from import_chunks where project_id = $1 and job_id = $2 and position = (
			select position from import_chunks where project_id = $1 and job_id = $2
				and exists (select from jobs where project_id = $1 and id = $2 and state = 'active')
			order by position limit 1 for update skip locked)
		returning *
	), latest as materialized (
		select row, email, l.subscribed, l.data, ${fits('l.data')} as fits
		from chunk cross join lateral unnest(rows, emails, chunk.subscribed, chunk.data)
			as l(row, email, subscribed, data)
		order by email
	), locked as materialized (
		select l.row, c.*, coalesce(l.subscribed, c.subscribed) as wish, c.data || l.data as merged
		from latest l cross join lateral (${lockedContact('email = l.email')}) c
	), known as materialized (
		select *, ${fits('merged')} as fits,
			wish <> subscribed or merged <> data as is_changed
		from locked
	), fresh as materialized (
		select * from latest where email not in (select email from locked)
	), misfits as (
		select row, email from known where not fits union all select row, email from fresh where not fits
	), named as (
		select set_config('tempost.changed_fields', coalesce(array_agg(distinct key), '{}')::text, true)
		from latest, jsonb_object_keys(data) key
	), updated as (
		update contacts c set subscribed = w.wish, data = w.merged, updated_at = now()
		from known w where c.project_id = $1 and c.id = w.id and w.is_changed and w.fits
		returning new.id, new.subscribed, new.data,
			jsonb_build_object('subscribed', old.subscribed, 'data', old.data,
				'updatedAt', old.updated_at) as before,
			old.subscribed <> new.subscribed as flipped
	), inserted as (
		insert into contacts (project_id, email, subscribed, data)
		select $1, l.email, coalesce(l.subscribed, true), l.data
		from fresh l where l.fits order by l.email
		on conflict (project_id, email) do nothing
		returning id, subscribed, data
	), flips as (
		insert into events (project_id, name, contact_id)
		select $1, case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, id
		from updated where flipped order by id
	), changed as (
		select id, jsonb_hash_extended(data, subscribed::int) as mark, before from updated
		union all
		select id, jsonb_hash_extended(data, subscribed::int), null from inserted
	), noted as (
		insert into import_changes (project_id, job_id, position, changed_at, contact_ids, marks, befores)
		select $1, $2, (select position from chunk), now(),
			array_agg(id), array_agg(mark), array_agg(before)
		from changed having count(*) > 0
	), refused as (
		insert into job_errors (project_id, job_id, row, email, error)
		select $1, $2, row, email, 'The data of this contact would exceed 64 KB in total'
		from misfits
	)
	select repeats + cardinality(rows) as rows,
		(select count(*) from inserted)::int as created,
		(select count(*) from updated)::int as changed,
		(select count(*) from misfits)::int as failed,
		((select count(*) from fresh where fits) - (select count(*) from inserted))::int as missed
	from chunk, named`,
)

/**
 * Apart from the deed, so that several at work wait for each other's commit only. No row: the job has
 * been cancelled, and the chunk must be rolled back.
 *
 * $1 project, $2 job, $3 rows, $4 created, $5 changed, $6 failed
 */
export const noteApplied = statement<{ id: string }>(
	'note-applied',
	`update jobs set position = position + $3::int, created_count = created_count + $4::int,
		changed_count = changed_count + $5::int, failed_count = failed_count + $6::int,
		unchanged_count = unchanged_count + $3::int - $4::int - $5::int - $6::int
	where project_id = $1 and id = $2 and state = 'active' returning id`,
)

/** A chunk that somebody else is still at keeps the import from its end. $1 project, $2 job */
export const finishImport = statement<{ isBusy: boolean }>(
	'finish-import',
	`with busy as materialized (
		select exists (select from import_chunks where project_id = $1 and job_id = $2) as is_busy
	), finished as (
		update jobs set state = 'completed', finished_at = now() from busy
		where project_id = $1 and id = $2 and state = 'active' and not is_busy
	)
	select is_busy and state = 'active' as "isBusy" from jobs, busy where project_id = $1 and id = $2`,
)
