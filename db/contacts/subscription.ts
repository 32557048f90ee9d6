import { defaultProjectName } from '../projects/project.ts'
import { statement } from '../statement.ts'

/** A contact as its own public pages see it. */
export interface PublicContact {
	id: string
	email: string
	subscribed: boolean
	/** It wants no mail at all, not even what it asks for itself. */
	stopped: boolean
	/** Whoever looks came from a mail to this contact: only they stop all mail, or lift that. */
	readsMail: boolean
	/** The name that the recipient knows the sender by. */
	sender: string
	/** What the contact says of itself; anything may stand there. */
	locale: string | null
	projectLanguage: string
}

/**
 * The sender is named as in the mail that led here, then by the project's own name, then by the mail's
 * address, then by a domain of the project.
 */
const known = (mail: string) => `select c.project_id, c.id, c.email, c.subscribed,
	coalesce(nullif(nullif(m.name, ''), '${defaultProjectName}'), nullif(p.name, '${defaultProjectName}'), m.address,
		(select domain from domains d where d.project_id = p.id and d.verified_at is not null
			order by d.verified_at limit 1), p.name) as sender,
	c.data ->> 'locale' as locale, p.language as "projectLanguage"
	from contacts c join projects p on p.id = c.project_id and p.deleted_at is null
	left join lateral (
		select e."from" as address, coalesce(e.from_name, k.from_name, k.project_name) as name
		from emails e left join campaigns k on k.project_id = e.project_id and k.id = e.campaign_id
		where e.project_id = c.project_id and e.id = ${mail}::uuid and e.contact_id = c.id
	) m on true
	where c.id = $1`
const isStopped = `exists (select from suppressions s where s.project_id = known.project_id
	and s.email = known.email and s.reason = 'UNSUBSCRIBED_ALL')`

/** $1 contact, $2 mail or null */
export const publicContact = statement<PublicContact>(
	'public-contact',
	`with known as (${known('$2')})
	select id, email, subscribed, ${isStopped} as stopped, exists (select from emails e
			where e.project_id = known.project_id and e.id = $2::uuid and e.contact_id = known.id
		) as "readsMail", sender, locale, "projectLanguage"
	from known`,
)

/**
 * What a contact decides for itself. Of concurrent decisions each finds what the one before it left: a
 * flip happens once, and so does its event. An unsubscribe is remembered on the mail it came from, if
 * that was a mail to this contact. Who stops all mail is put on the suppression list; who takes it back
 * leaves only their own entry. Both take such a mail, for a contact's id is no secret: the public key,
 * which is in web pages, is answered with it.
 *
 * Mails are locked before contacts, and those before suppressions, as whoever hears of a bounce does.
 *
 * $1 contact, $2 subscribed, $3 mail or null, $4 whether all mail stops; null: as it is
 */
export const decideSubscription = statement<PublicContact>(
	'decide-subscription',
	`with known as materialized (${known('$3')}), mail as materialized (
		select e.project_id, e.id from known join emails e on e.project_id = known.project_id
			and e.id = $3::uuid and e.contact_id = known.id
		for no key update of e
	), flipped as (
		update contacts c set subscribed = $2::bool, updated_at = now()
		from known
		where c.project_id = known.project_id and c.id = known.id and c.subscribed <> $2::bool
			and (select count(*) from mail) >= 0
		returning c.project_id, c.id
	), remembered as (
		update emails e set unsubscribed_at = now()
		from mail, flipped
		where e.project_id = mail.project_id and e.id = mail.id and not $2::bool
			and e.unsubscribed_at is null
	), flips as (
		insert into events (project_id, name, contact_id, email_id)
		select flipped.project_id,
			case when $2::bool then 'contact.subscribed' else 'contact.unsubscribed' end,
			flipped.id, mail.id
		from flipped left join mail on true
	), stopped as (
		insert into suppressions (project_id, email, reason, email_id)
		select known.project_id, email, 'UNSUBSCRIBED_ALL', mail.id from known cross join mail
		where $4::bool and (select count(*) from flipped) >= 0
		on conflict (project_id, email) do nothing
	), resumed as (
		delete from suppressions s using known, mail
		where not $4::bool and s.project_id = known.project_id and s.email = known.email
			and s.reason = 'UNSUBSCRIBED_ALL'
	)
	select id, email, $2::bool as subscribed, coalesce((select $4::bool from mail), ${isStopped}) as stopped,
		exists (select from mail) as "readsMail", sender, locale, "projectLanguage"
	from known`,
)
