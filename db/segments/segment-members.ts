import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import { type ContactRecord, contactRecord } from '../contacts/contact-record.ts'
import { statement } from '../statement.ts'
import type { SegmentRecord } from './segment-records.ts'

interface Added {
	added: number
	created: number
	/** How many of the addresses have a contact now. */
	known: number
	notFound: string[]
}

/**
 * Puts contacts into a static segment. Somebody else who creates one of them at the same moment makes
 * it unknown to this statement: run it again, with the same result but for the counts.
 *
 * $1 project, $2 segment, $3 addresses, normalized and distinct, $4 whether to create who is missing,
 * $5 their subscribed, $6 the event's name or null, $7 its data
 */
export const addMembers = statement<Added>(
	'add-segment-members',
	`with given as (
		select email from unnest($3::text[]) as g(email)
	), present as materialized (
		select c.id, c.email from given join contacts c on c.project_id = $1 and c.email = given.email
		order by c.id for key share of c
	), created as (
		insert into contacts (project_id, email, subscribed)
		select $1, email, $5::bool from given
		where $4::bool and email not in (select email from present)
		order by email
		on conflict (project_id, email) do nothing returning id, email
	), known as (
		select id, email from present union all select id, email from created
	), entered as (
		insert into segment_members (project_id, segment_id, contact_id, computed)
		select $1, $2::uuid, id, false from known order by id
		on conflict do nothing returning contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $1, $6::text, contact_id, $7::jsonb from entered where $6::text is not null
	)
	select (select count(*)::int from entered) as added, (select count(*)::int from created) as created,
		(select count(*)::int from known) as known,
		array(select email from given where email not in (select email from known)) as "notFound"`,
)

/** $1 project, $2 segment, $3 addresses, $4 the event's name or null, $5 its data */
export const removeMembers = statement<{ removed: number }>(
	'remove-segment-members',
	`with member as materialized (
		select m.contact_id from segment_members m
		join contacts c on c.project_id = $1 and c.id = m.contact_id and c.email = any($3::text[])
		where m.project_id = $1 and m.segment_id = $2::uuid
		order by m.contact_id for update of m
	), gone as (
		delete from segment_members m using member
		where m.project_id = $1 and m.segment_id = $2::uuid and m.contact_id = member.contact_id
		returning m.contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $1, $4::text, contact_id, $5::jsonb from gone where $4::text is not null
	)
	select count(*)::int as removed from gone`,
)

/** The page is picked from the index before a contact is read. $1 project, $2 segment, $3 limit, $4 offset */
export const storedMembers = statement<ContactRecord>(
	'stored-segment-members',
	`select ${contactRecord('c')} from (
		select contact_id, created_at from segment_members
		where project_id = $1 and segment_id = $2::uuid and not computed
		order by created_at desc, contact_id desc limit $3::int offset $4::bigint
	) m join contacts c on c.project_id = $1 and c.id = m.contact_id
	order by m.created_at desc, m.contact_id desc`,
)

/** Who is in a dynamic segment at this moment: the page, and how many in all, by one look at all. */
export async function matchingMembers(
	db: Pool | PoolClient,
	segment: SegmentRecord,
	limit: number,
	offset: number,
): Promise<{ total: number; data: ContactRecord[] }> {
	const { projectId } = segment
	const { sql, parameters } = await compileFor(db, projectId, segment.condition!)
	const { rows } = await db.query<{ total: number; data: ContactRecord[] }>(
		`with matching as materialized (
			select id, created_at from contacts c where c.project_id = $1 and ${sql('c', 4)}
		), page as (
			select id from matching order by created_at desc, id desc limit $2::int offset $3::bigint
		)
		select (select count(*)::int from matching) as total, (
			select coalesce(json_agg(json_build_object('id', c.id, 'email', c.email,
				'subscribed', c.subscribed, 'data', c.data, 'createdAt', c.created_at,
				'updatedAt', c.updated_at) order by c.created_at desc, c.id desc), '[]')
			from page join contacts c on c.project_id = $1 and c.id = page.id) as data`,
		[projectId, limit, offset, ...parameters],
	)
	const { total, data } = rows[0]!
	const withDates = data.map((row) => ({
		...row,
		createdAt: new Date(row.createdAt),
		updatedAt: new Date(row.updatedAt),
	}))
	return { total, data: withDates }
}
