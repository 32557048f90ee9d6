import type { PoolClient } from 'pg'
import { isUndoable } from '../imports/import-undo.ts'
import { int, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { hasLeft, lockedContact } from './jobs.ts'

const flip = (subscribed: boolean, isWanted = 'true') => `changed as (
		update contacts c set subscribed = ${subscribed}, updated_at = now()
		from locked l where c.project_id = $projectId and c.id = l.id and l.subscribed <> ${subscribed}
			and ${isWanted}
		returning c.id
	), flips as (
		insert into events (project_id, name, contact_id)
		select $projectId, 'contact.${subscribed ? '' : 'un'}subscribed', id from changed order by id
	), stated as (
		update contacts c set updated_at = now()
		from locked l where c.project_id = $projectId and c.id = l.id and l.subscribed = ${subscribed}
			and ${isUndoable('l.id')}
	)`
const subscribe = flip(true, `not ${hasLeft('l')}`)
const unsubscribe = flip(false)

/**
 * Applies an action to the contacts of the next chunk. The action is a WITH list that provides `changed
 * (id)` and, for subscription changes, an event. `locked (place, id, email, subscribed, data)` are the
 * contacts that exist.
 */
const chunkWith = (deed: string) =>
	`with chunk as (
		delete from job_contacts where project_id = $projectId and job_id = $jobId and position = (
			select position from job_contacts where project_id = $projectId and job_id = $jobId
			order by position limit 1)
		returning position, contact_ids
	), meant as materialized (
		select position + n as place, id
		from chunk cross join lateral unnest(contact_ids) with ordinality as m(id, n)
		order by id
	), locked as materialized (
		select m.place, c.*
		from meant m cross join lateral (${lockedContact('id = m.id', 'update')}) c
	), ${deed}, missing as (
		insert into job_errors (project_id, job_id, row, contact_id, error)
		select $projectId, $jobId, place, id, 'There is no such contact'
		from meant where id not in (select id from locked)
		returning row
	), counted as (
		select (select count(*) from meant) as contacts, (select count(*) from locked) as found,
			(select count(*) from changed) as changed, (select count(*) from missing) as missing
		from chunk
	), recorded as (
		update jobs set
			position = position + contacts,
			changed_count = changed_count + changed,
			unchanged_count = unchanged_count + found - changed,
			failed_count = failed_count + missing
		from counted where project_id = $projectId and id = $jobId
	)
	select contacts::int from counted`

const params = { projectId: uuid, jobId: uuid }
const row = { contacts: int }
const chunks = {
	'bulk-subscribe': statement('bulk-subscribe-chunk', { params, row, text: chunkWith(subscribe) }),
	'bulk-unsubscribe': statement('bulk-unsubscribe-chunk', {
		params,
		row,
		text: chunkWith(unsubscribe),
	}),
	'bulk-delete': statement('bulk-delete-chunk', {
		params,
		row,
		text: chunkWith(`changed as (
		delete from contacts c using locked l where c.project_id = $projectId and c.id = l.id
			returning c.id
	)`),
	}),
	'delete-field': statement('delete-field-chunk', {
		params: { ...params, field: text },
		row,
		text: chunkWith(`changed as (
		update contacts c set data = c.data - $field::text, updated_at = now()
		from locked l where c.project_id = $projectId and c.id = l.id and l.data ? $field::text
		returning c.id
	)`),
	}),
}

export type BulkType = keyof typeof chunks

/**
 * Processes the next chunk; no row: nothing is left. Run this by `inActiveJob`. The chunk is deleted in
 * the same transaction, so it is processed once.
 */
export function doChunk(
	db: PoolClient,
	type: BulkType,
	{ field, ...job }: { projectId: string; jobId: string; field: string | null },
) {
	if (type === 'delete-field') return chunks[type](db, { ...job, field: field! })
	return chunks[type](db, job)
}
