import { isNoLarger } from '../contacts/contact-writing.ts'
import { hasLeft, lockedContact } from '../jobs/jobs.ts'
import { bool, int, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { isUndoable } from './import-undo.ts'

/** Almost all data is small enough to skip the function call. */
const fits = (data: string) => `(pg_column_size(${data}) < 8192 or contact_data_fits(${data}))`

/**
 * Applies the next chunk of an import in one set-based statement, by the rules of `upsertContactCtes`, and
 * stores what it did for the undo. It names the fields it may change, so the field statistics can ignore
 * all others. The chunk is deleted in the transaction that applies it, so each row is applied once.
 * Several workers may apply different chunks, which have no contact in common. No row: no chunk is left.
 */
export const applyChunk = statement('apply-import-chunk', {
	params: { projectId: uuid, jobId: uuid },
	row: {
		rows: int,
		created: int,
		changed: int,
		failed: int,
		/** Contacts that another request created at this moment: roll back and try again. */
		missed: int,
	},
	text: `with chunk as materialized (
		delete from import_chunks where project_id = $projectId and job_id = $jobId and position = (
			select position from import_chunks where project_id = $projectId and job_id = $jobId
				and exists (select from jobs where project_id = $projectId and id = $jobId
					and state = 'active')
			order by position limit 1 for update skip locked)
		returning *
	), latest as materialized (
		select row, email, l.subscribed, l.data, ${fits('l.data')} as fits
		from chunk cross join lateral unnest(rows, emails, chunk.subscribed, chunk.data)
			as l(row, email, subscribed, data)
		order by email
	), locked as materialized (
		select l.row, c.*, coalesce(l.subscribed, c.subscribed) and (c.subscribed or not ${hasLeft('c')}) as wish,
			c.data || l.data as merged
		from latest l cross join lateral (${lockedContact('email = l.email')}) c
	), known as materialized (
		select *, ${fits('merged')} or ${isNoLarger} as fits,
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
		from known w where c.project_id = $projectId and c.id = w.id and w.is_changed and w.fits
		returning new.id, new.subscribed, new.data,
			jsonb_build_object('subscribed', old.subscribed, 'data', old.data,
				'updatedAt', old.updated_at) as before,
			old.subscribed <> new.subscribed as flipped
	), stated as (
		update contacts c set updated_at = now() from known w
		where c.project_id = $projectId and c.id = w.id and not w.is_changed and ${isUndoable('w.id')}
	), inserted as (
		insert into contacts (project_id, email, subscribed, data)
		select $projectId, l.email, coalesce(l.subscribed, true), l.data
		from fresh l where l.fits order by l.email
		on conflict (project_id, email) do nothing
		returning id, subscribed, data
	), flips as (
		insert into events (project_id, name, contact_id)
		select $projectId, case when subscribed then 'contact.subscribed'
			else 'contact.unsubscribed' end, id
		from updated where flipped order by id
	), changed as (
		select id, jsonb_hash_extended(data, subscribed::int) as mark, before from updated
		union all
		select id, jsonb_hash_extended(data, subscribed::int), null from inserted
	), recorded as (
		insert into import_changes (project_id, job_id, position, changed_at, contact_ids, marks, befores)
		select $projectId, $jobId, (select position from chunk), now(),
			array_agg(id), array_agg(mark), array_agg(before)
		from changed having count(*) > 0
	), refused as (
		insert into job_errors (project_id, job_id, row, email, error)
		select $projectId, $jobId, row, email, 'The data of this contact would exceed 64 KB in total'
		from misfits
	)
	select repeats + cardinality(rows) as rows,
		(select count(*) from inserted)::int as created,
		(select count(*) from updated)::int as changed,
		(select count(*) from misfits)::int as failed,
		((select count(*) from fresh where fits) - (select count(*) from inserted))::int as missed
	from chunk, named`,
})

/**
 * Separate from applying, so that concurrent workers wait only for each other's commit. No row: the job
 * was cancelled, and the chunk must be rolled back.
 */
export const recordApplied = statement('record-applied', {
	params: { projectId: uuid, jobId: uuid, rows: int, created: int, changed: int, failed: int },
	row: { id: uuid },
	text: `update jobs set position = position + $rows::int,
		created_count = created_count + $created::int,
		changed_count = changed_count + $changed::int, failed_count = failed_count + $failed::int,
		unchanged_count = unchanged_count + $rows::int - $created::int - $changed::int - $failed::int
	where project_id = $projectId and id = $jobId and state = 'active' returning id`,
})

/** The import doesn't end while another worker has a chunk. */
export const finishImport = statement('finish-import', {
	params: { projectId: uuid, jobId: uuid },
	row: { isBusy: bool },
	text: `with busy as materialized (
		select exists (select from import_chunks where project_id = $projectId
			and job_id = $jobId) as is_busy
	), finished as (
		update jobs set state = 'completed', finished_at = now() from busy
		where project_id = $projectId and id = $jobId and state = 'active' and not is_busy
	)
	select is_busy and state = 'active' as "isBusy" from jobs, busy where project_id = $projectId
		and id = $jobId`,
})
