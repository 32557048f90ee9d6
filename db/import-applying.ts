import { lockedContact } from './jobs.ts'
import { statement } from './statement.ts'

export interface AppliedChunk {
	rows: number
	/** Contacts that somebody else created at this moment: roll back, and look again. */
	missed: number
}

/** Small data, as nearly all is, is not worth the call. */
const fits = (data: string) => `(pg_column_size(${data}) < 8192 or contact_data_fits(${data}))`

/**
 * Applies the next chunk of an import by the rules of `upsertContactCtes`, set-based, and notes what it
 * did for the undo. To be run by `inActiveJob`; the chunk goes with the deed, so each row happens once.
 * No row: nothing is left.
 *
 * $1 project, $2 job
 */
export const applyChunk = statement<AppliedChunk>(
	'apply-import-chunk',
	`with chunk as materialized (
		delete from import_chunks where project_id = $1 and job_id = $2 and position = (
			select position from import_chunks where project_id = $1 and job_id = $2
			order by position limit 1)
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
	), updated as (
		update contacts c set subscribed = w.wish, data = w.merged, updated_at = now()
		from known w where c.project_id = $1 and c.id = w.id and w.is_changed and w.fits
		returning new.id, new.subscribed, new.data,
			jsonb_build_object('subscribed', old.subscribed, 'data', old.data) as before,
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
	), counted as (
		select position, repeats + cardinality(rows) as rows,
			(select count(*) from fresh where fits) as creatable,
			(select count(*) from inserted) as created,
			(select count(*) from updated) as changed,
			(select count(*) from misfits) as failed
		from chunk
	), told as (
		update jobs set
			position = counted.position,
			created_count = created_count + created,
			changed_count = changed_count + changed,
			unchanged_count = unchanged_count + rows - created - changed - failed,
			failed_count = failed_count + failed
		from counted where project_id = $1 and id = $2
	)
	select rows::int, (creatable - created)::int as missed from counted`,
)
