import { lockedContact } from '../jobs/jobs.ts'
import { int, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/**
 * Whether an import that can be undone has changed the contact. All that find the contact as they want it then write
 * its time all the same: the undo must see that it was stated since.
 */
export const isUndoable = (id: string, projectId = '$projectId') => `exists (
			select from import_changes i where i.project_id = ${projectId} and i.contact_ids @> array[${id}])`

/** The number of changes to undo; the same statement stores it as the undo's total. */
export const countChanges = statement('count-import-changes', {
	params: { projectId: uuid, jobId: uuid, importId: uuid },
	text: `update jobs set total = (
		select coalesce(sum(cardinality(contact_ids)), 0) from import_changes
		where project_id = $projectId and job_id = $importId::uuid)
	where project_id = $projectId and id = $jobId and total is null`,
})

/**
 * Undoes one chunk of an import: contacts it created are deleted, contacts it changed are restored. A
 * contact that was changed since is left alone, unless that change was undone: if two imports are undone
 * in reverse order, the first one finds its own state. Run this by `inActiveJob`. The stored change is
 * deleted in the same transaction, so it is undone once. No row: nothing is left.
 */
export const undoChunk = statement('undo-import-chunk', {
	params: { projectId: uuid, jobId: uuid, importId: uuid },
	row: { contacts: int },
	text: `with taken as (
		delete from import_changes where project_id = $projectId and job_id = $importId::uuid
			and position = (
			select position from import_changes where project_id = $projectId
				and job_id = $importId::uuid
			order by position desc limit 1)
		returning changed_at, contact_ids, marks, befores
	), change as materialized (
		select changed_at, id, mark, before
		from taken cross join lateral unnest(contact_ids, marks, befores) as n(id, mark, before)
		order by id
	), untouched as materialized (
		select c.id, n.before
		from change n cross join lateral (${lockedContact('id = n.id', 'update')}) c
		left join restored_contacts r on r.project_id = $projectId and r.contact_id = c.id
			and r.restored_at = c.updated_at
		where coalesce(r.as_of, c.updated_at) = n.changed_at
			and coalesce(c.refused_at < n.changed_at, true)
			and jsonb_hash_extended(c.data, c.subscribed::int) = n.mark
	), removed as (
		delete from contacts c using untouched u
		where c.project_id = $projectId and c.id = u.id and u.before is null
		returning c.id
	), restored as (
		update contacts c set subscribed = (u.before->'subscribed')::bool, data = u.before->'data',
			updated_at = now()
		from untouched u where c.project_id = $projectId and c.id = u.id and u.before is not null
		returning new.id, new.subscribed, old.subscribed <> new.subscribed as flipped,
			new.updated_at as restored_at, (u.before->>'updatedAt')::timestamptz(3) as before_at
	), recognizable as (
		insert into restored_contacts (project_id, contact_id, restored_at, as_of)
		select $projectId, d.id, d.restored_at, coalesce(r.as_of, d.before_at)
		from restored d left join restored_contacts r
			on r.project_id = $projectId and r.contact_id = d.id and r.restored_at = d.before_at
		where d.before_at is not null and exists (
			select from import_changes where project_id = $projectId and job_id <> $importId::uuid)
	), flips as (
		insert into events (project_id, name, contact_id)
		select $projectId, case when subscribed then 'contact.subscribed'
			else 'contact.unsubscribed' end, id
		from restored where flipped order by id
	), counted as (
		select (select count(*) from change) as contacts, (select count(*) from removed) as removed,
			(select count(*) from restored) as restored
		from taken
	), recorded as (
		update jobs set
			position = position + contacts,
			removed_count = removed_count + removed,
			changed_count = changed_count + restored,
			unchanged_count = unchanged_count + contacts - removed - restored
		from counted where project_id = $projectId and id = $jobId
	)
	select contacts::int from counted`,
})
