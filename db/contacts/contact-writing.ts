import { isUndoable } from '../imports/import-undo.ts'
import { bool, json, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { contactColumns, contactFrom } from './contact-record.ts'

const writtenContactColumns = {
	...contactColumns,
	isNew: bool,
	/** Whether anything has changed; always true for a new contact. */
	isChanged: bool,
	/** False: the merged data would exceed 64 KB, and nothing was written. */
	fits: bool,
}
export type WrittenContact = RowOf<typeof writtenContactColumns>

// Every writer of a contact locks its row first and decides under the lock. So each of several concurrent
// requests sees the result of the one before: a subscription changes once, with one event.

/** Data that was too large before may stay, or shrink: an unsubscription is never refused for it. */
export const isNoLarger = 'octet_length(merged::text) <= octet_length(data::text)'
const fits = `(contact_data_fits(merged) or ${isNoLarger})`
const written = `new.id, new.email, new.subscribed, new.data, new.created_at, new.updated_at`
const emitFlips = `insert into events (project_id, name, contact_id)
	select $projectId, case when subscribed then 'contact.subscribed'
		else 'contact.unsubscribed' end, id
	from updated where flipped`
/**
 * `refused_at` after a statement that the contact is subscribed, is not, or after none (null). The time is not that of the
 * transaction, which may have waited for a job to let the contact go.
 */
export const refusedAt = (stated: string, before = 'null') =>
	`case when ${stated} then null when not ${stated} then clock_timestamp() else ${before} end`
const refusedAfter = refusedAt('$subscribed::bool', 'c.refused_at')
/** A repeated decision counts, too: jobs and undos must see that it was stated since. */
const restate = `update contacts c set refused_at = ${refusedAfter},
			updated_at = case when $subscribed::bool then now() else c.updated_at end
		from wanted w where c.project_id = $projectId and c.id = w.id and not w.is_changed
			and case when $subscribed::bool then ${isUndoable('w.id')} else not $subscribed::bool end`
const contactOf = (rows: string) => `select ${contactFrom(rows)}, is_new as "isNew",
	is_changed as "isChanged", fits from ${rows}`

export const upsertParams = {
	projectId: uuid,
	/** Normalised. */
	email: text,
	/** Null: unchanged, true for a new contact. */
	subscribed: bool.orNull,
	/** The data to store: from `splitData` and checked by `dataProblems`, like the keys to remove. */
	data: json<object>(),
	removedKeys: text.array,
}

/**
 * The WITH list that creates a contact or merges data into it, for statements that do more work in the
 * same transaction. It takes `upsertParams`.
 *
 * It provides `contact (id, email, subscribed, data, created_at, updated_at, is_new, is_changed, fits)`
 * with one row; the rest of the statement should depend on it `where fits`. Without a row nothing was
 * written, because another request created the same contact at this moment: run the statement again.
 */
export const upsertContactCtes = `
	locked as materialized (
		select id, email, subscribed, data, created_at, updated_at,
			coalesce($subscribed::bool, subscribed) as wish,
				(data - $removedKeys::text[]) || $data::jsonb as merged
		from contacts where project_id = $projectId and email = $email::text
		for no key update
	), wanted as materialized (
		select *, ${fits} as fits,
			wish <> subscribed or merged <> data as is_changed
		from locked
	), updated as (
		update contacts c set subscribed = w.wish, refused_at = ${refusedAfter}, data = w.merged,
			updated_at = now()
		from wanted w where c.project_id = $projectId and c.id = w.id and w.is_changed and w.fits
		returning ${written}, old.subscribed <> new.subscribed as flipped
	), stated as (
		${restate}
	), inserted as (
		insert into contacts (project_id, email, subscribed, refused_at, data)
		select $projectId, $email::text, coalesce($subscribed::bool, true), ${refusedAt('$subscribed::bool')}, $data::jsonb
			where not exists (select from locked)
		on conflict (project_id, email) do nothing
		returning ${written}
	), flips as (
		${emitFlips}
	), contact as (
		select *, true as is_new, true as is_changed, true as fits from inserted
		union all
		select id, email, subscribed, data, created_at, updated_at, false, true, true from updated
		union all
		select id, email, subscribed, data, created_at, updated_at, false, false, fits
		from wanted where not (is_changed and fits)
	)`

/** Takes and returns the same as `upsertContactCtes`. */
export const upsertContact = statement('upsert-contact', {
	params: upsertParams,
	row: writtenContactColumns,
	text: `with ${upsertContactCtes} ${contactOf('contact')}`,
})

/** Changes a contact; no row: there is none. A duplicate address fails on the unique constraint. */
export const patchContact = statement('patch-contact', {
	params: {
		projectId: uuid,
		contactId: uuid,
		/** Normalised; null: unchanged. */
		email: text.orNull,

		/** Null: unchanged. */
		subscribed: bool.orNull,
		data: json<object>(),
		removedKeys: text.array,
		/** Whether all other data is removed. */
		replacesData: bool,
	},
	row: writtenContactColumns,
	text: `with locked as materialized (
		select *, coalesce($email::text, email) as address,
			coalesce($subscribed::bool, subscribed) as wish,
			case when $replacesData::bool then '{}'
				else data - $removedKeys::text[] end || $data::jsonb as merged
		from contacts where project_id = $projectId and id = $contactId::uuid
		for update
	), wanted as materialized (
		select *, ${fits} as fits,
			address <> email or wish <> subscribed or merged <> data as is_changed
		from locked
	), updated as (
		update contacts c
		set email = w.address, subscribed = w.wish, refused_at = ${refusedAfter}, data = w.merged,
			updated_at = now()
		from wanted w where c.project_id = $projectId and c.id = w.id and w.is_changed and w.fits
		returning ${written}, old.subscribed <> new.subscribed as flipped
	), stated as (
		${restate}
	), flips as (
		${emitFlips}
	), contact as (
		select id, email, subscribed, data, created_at, updated_at, false as is_new,
			true as is_changed, true as fits
		from updated
		union all
		select id, email, subscribed, data, created_at, updated_at, false, false, fits
		from wanted where not (is_changed and fits)
	)
	${contactOf('contact')}`,
})

/**
 * Deletes contacts and returns those that existed. Triggers detach their mails and events and end their
 * executions. Mails are locked after their contacts, but all others lock them first, so run this by
 * `inChunk`.
 */
export const deleteContacts = statement('delete-contacts', {
	params: { projectId: uuid, contactIds: uuid.array },
	row: { id: uuid },
	text: `with gone as materialized (
		select id from contacts where project_id = $projectId and id = any($contactIds::uuid[])
			order by id for update
	)
	delete from contacts c using gone where c.project_id = $projectId and c.id = gone.id
		returning c.id`,
})
