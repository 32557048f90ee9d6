import { statement } from '../statement.ts'
import { type ContactRecord, contactRecord } from './contact-record.ts'

export interface WrittenContact extends ContactRecord {
	isNew: boolean
	/** Whether anything is different from before; always so for a new one. */
	isChanged: boolean
	/** False: the merged data would exceed 64 KB, and nothing was written. */
	fits: boolean
}

// Whoever writes a contact locks its row first and decides on what is under the lock. Of concurrent
// requests each then sees what the one before it left: a flip happens once, and so does its event.

const written = `new.id, new.email, new.subscribed, new.data, new.created_at, new.updated_at`
const emitFlips = `insert into events (project_id, name, contact_id)
	select $1, case when subscribed then 'contact.subscribed' else 'contact.unsubscribed' end, id
	from updated where flipped`
const contactOf = (rows: string) => `select ${contactRecord(rows)}, is_new as "isNew",
	is_changed as "isChanged", fits from ${rows}`

/**
 * The list of a WITH that creates a contact or merges data into it, for statements with work of their
 * own in the same transaction. It takes $1 project (uuid), $2 the normalized address (text),
 * $3 subscribed (bool or null: as it is, true for a new one), $4 data to store (jsonb), $5 data keys to
 * delete (text[]), the last two from `splitData`, checked by `dataProblems`.
 *
 * It leaves `contact (id, email, subscribed, data, created_at, updated_at, is_new, is_changed, fits)`:
 * one row; hang what follows on it `where fits`. Without a row nothing was written either, because
 * somebody else created the same contact at this moment: run the statement again.
 */
export const upsertContactCtes = `
	locked as materialized (
		select id, email, subscribed, data, created_at, updated_at,
			coalesce($3::bool, subscribed) as wish, (data - $5::text[]) || $4::jsonb as merged
		from contacts where project_id = $1 and email = $2::text
		for no key update
	), wanted as materialized (
		select *, contact_data_fits(merged) as fits,
			wish <> subscribed or merged <> data as is_changed
		from locked
	), updated as (
		update contacts c set subscribed = w.wish, data = w.merged, updated_at = now()
		from wanted w where c.project_id = $1 and c.id = w.id and w.is_changed and w.fits
		returning ${written}, old.subscribed <> new.subscribed as flipped
	), inserted as (
		insert into contacts (project_id, email, subscribed, data)
		select $1, $2::text, coalesce($3::bool, true), $4::jsonb where not exists (select from locked)
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

/** As `upsertContactCtes` takes and leaves it. */
export const upsertContact = statement<WrittenContact>(
	'upsert-contact',
	`with ${upsertContactCtes} ${contactOf('contact')}`,
)

/**
 * Changes a contact; no row: there is none. An address that is taken fails on the unique constraint.
 *
 * $1 project, $2 id, $3 normalized address or null, $4 subscribed or null, $5 data to store,
 * $6 data keys to delete, $7 whether all other data goes
 */
export const patchContact = statement<WrittenContact>(
	'patch-contact',
	`with locked as materialized (
		select *, coalesce($3::text, email) as address, coalesce($4::bool, subscribed) as wish,
			case when $7::bool then '{}' else data - $6::text[] end || $5::jsonb as merged
		from contacts where project_id = $1 and id = $2::uuid
		for update
	), wanted as materialized (
		select *, contact_data_fits(merged) as fits,
			address <> email or wish <> subscribed or merged <> data as is_changed
		from locked
	), updated as (
		update contacts c
		set email = w.address, subscribed = w.wish, data = w.merged, updated_at = now()
		from wanted w where c.project_id = $1 and c.id = w.id and w.is_changed and w.fits
		returning ${written}, old.subscribed <> new.subscribed as flipped
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
)

/**
 * Deletes contacts and answers those that were there. Triggers let go of their mails and events, and end
 * their executions. Mails are locked after them, by everybody else before them: to be run by `inChunk`.
 *
 * $1 project, $2 ids
 */
export const deleteContacts = statement<{ id: string }>(
	'delete-contacts',
	`with gone as materialized (
		select id from contacts where project_id = $1 and id = any($2::uuid[]) order by id for update
	)
	delete from contacts c using gone where c.project_id = $1 and c.id = gone.id returning c.id`,
)
