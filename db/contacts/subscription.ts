import { isUndoable } from '../imports/import-undo.ts'
import { defaultProjectName } from '../projects/project.ts'
import { bool, type RowOf, text, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { refusedAt } from './contact-writing.ts'

/** A contact as shown on its own public pages. */
const publicContactColumns = {
	id: uuid,
	email: text,
	subscribed: bool,
	/** The contact receives no mail at all, not even mail it requests. */
	stopped: bool,
	/**
	 * The visitor came from a mail to this contact. Only such visitors may stop all mail, or allow it again.
	 */
	readsMail: bool,
	/** The sender's name as the recipient knows it. */
	sender: text,
	/** The contact's own data; it may hold anything. */
	locale: text.orNull,
	projectLanguage: text,
}
export type PublicContact = RowOf<typeof publicContactColumns>

/**
 * The sender is named as in the mail that linked here, else by the project's name, else by the mail's
 * address, else by a domain of the project.
 */
const known = (mail: string) => `select c.project_id, c.id, c.email, c.subscribed,
	coalesce(nullif(nullif(m.name, ''), '${defaultProjectName}'), nullif(p.name, '${defaultProjectName}'), m.address,
		(select domain from domains d where d.project_id = p.id and d.verified_at is not null
			order by d.verified_at limit 1), p.name) as sender,
	c.data ->> 'locale' as locale, p.language as "projectLanguage"
	from contacts c join projects p on p.id = c.project_id and p.deleted_at is null
	left join lateral (
		select coalesce(e."from", k."from") as address, coalesce(e.from_name, k.from_name, k.project_name) as name
		from emails e left join campaigns k on k.project_id = e.project_id and k.id = e.campaign_id
		where e.project_id = c.project_id and e.id = ${mail}::uuid and e.contact_id = c.id
	) m on true
	where c.id = $contactId`
/** The release before wrote no time. */
const stops = `(s.stopped_at is not null or s.reason = 'UNSUBSCRIBED_ALL')`
const isStopped = `exists (select from suppressions s where s.project_id = known.project_id
	and s.email = known.email and ${stops})`

export const publicContact = statement('public-contact', {
	params: { contactId: uuid, emailId: uuid.orNull },
	row: publicContactColumns,
	text: `with known as (${known('$emailId')})
	select id, email, subscribed, ${isStopped} as stopped, exists (select from emails e
			where e.project_id = known.project_id and e.id = $emailId::uuid and e.contact_id = known.id
		) as "readsMail", sender, locale, "projectLanguage"
	from known`,
})

/**
 * Applies a contact's own decision. Each of several concurrent decisions sees the result of the one
 * before: a subscription changes once, with one event. An unsubscription is stored on the mail it came
 * from, if that mail went to this contact. Stopping all mail adds the contact to the suppression list, or is noted
 * in its entry; allowing it again takes only that back. Both require such a mail, because a contact's id
 * is no secret: the public key, which is in web pages, returns it.
 *
 * Mails are locked before contacts, and contacts before suppressions, as in the handling of bounces.
 */
export const decideSubscription = statement('decide-subscription', {
	params: {
		contactId: uuid,
		subscribed: bool,
		emailId: uuid.orNull,
		/** Null: unchanged. */
		stopsAllMail: bool.orNull,
	},
	row: publicContactColumns,
	text: `with known as materialized (${known('$emailId')}), mail as materialized (
		select e.project_id, e.id from known join emails e on e.project_id = known.project_id
			and e.id = $emailId::uuid and e.contact_id = known.id
		for no key update of e
	), decided as (
		update contacts c set subscribed = $subscribed::bool, updated_at = now(),
			refused_at = ${refusedAt('$subscribed::bool')}
		from known
		where c.project_id = known.project_id and c.id = known.id
			-- Also one who has decided the same before: jobs and undos must see that the person has decided since.
			and (not (c.subscribed and $subscribed::bool) or ${isUndoable('c.id', 'c.project_id')})
			and (select count(*) from mail) >= 0
		returning c.project_id, c.id, old.subscribed <> new.subscribed as flipped
	), flipped as materialized (
		select project_id, id from decided where flipped
	), remembered as (
		update emails e set unsubscribed_at = now()
		from mail, flipped
		where e.project_id = mail.project_id and e.id = mail.id and not $subscribed::bool
			and e.unsubscribed_at is null
	), flips as (
		insert into events (project_id, name, contact_id, email_id)
		select flipped.project_id,
			case when $subscribed::bool then 'contact.subscribed' else 'contact.unsubscribed' end,
			flipped.id, mail.id
		from flipped left join mail on true
	), stopped as (
		insert into suppressions as s (project_id, email, reason, email_id, stopped_at)
		select known.project_id, email, 'UNSUBSCRIBED_ALL', mail.id, now() from known cross join mail
		where $stopsAllMail::bool and (select count(*) from flipped) >= 0
		on conflict (project_id, email) do update set stopped_at = excluded.stopped_at where s.stopped_at is null
	), kept as (
		update suppressions s set stopped_at = null from known, mail
		where not $stopsAllMail::bool and s.project_id = known.project_id and s.email = known.email
			and s.reason <> 'UNSUBSCRIBED_ALL' and s.stopped_at is not null
	), resumed as (
		delete from suppressions s using known, mail
		where not $stopsAllMail::bool and s.project_id = known.project_id and s.email = known.email
			and s.reason = 'UNSUBSCRIBED_ALL'
	)
	select id, email, $subscribed::bool as subscribed, coalesce((select $stopsAllMail::bool
		from mail), ${isStopped}) as stopped,
		exists (select from mail) as "readsMail", sender, locale, "projectLanguage"
	from known`,
})
