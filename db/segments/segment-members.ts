import type { Pool, PoolClient } from 'pg'
import { compileFor } from '../conditions/condition-segments.ts'
import {
	contactIfFound,
	contactRecordColumns,
	type ContactRecord,
	contactRecordFrom,
	isFound,
} from '../contacts/contact-record.ts'
import { refusedAt } from '../contacts/contact-writing.ts'
import { bigint, bool, int, json, text, uuid } from '../sql-types.ts'
import { ownText, query, sql } from '../sql.ts'
import { statement } from '../statement.ts'
import type { SegmentRecord } from './segment-records.ts'

/**
 * Adds contacts to a static segment. A contact that another request creates at the same moment is unknown
 * to this statement: run it again. Only the counts will differ.
 */
export const addMembers = statement('add-segment-members', {
	params: {
		projectId: uuid,
		segmentId: uuid,
		/** Normalised and distinct. */
		emails: text.array,
		createsMissing: bool,
		subscribed: bool,
		eventName: text.orNull,
		eventData: json<object>().orNull,
	},
	row: {
		added: int,
		created: int,
		/** How many of the addresses have a contact now. */
		known: int,
		notFound: text.array,
	},
	text: `with given as (
		select email from unnest($emails::text[]) as g(email)
	), present as materialized (
		select c.id, c.email from given join contacts c on c.project_id = $projectId
			and c.email = given.email
		order by c.id for key share of c
	), created as (
		insert into contacts (project_id, email, subscribed, refused_at)
		select $projectId, email, $subscribed::bool, ${refusedAt('$subscribed::bool')} from given
		where $createsMissing::bool and email not in (select email from present)
		order by email
		on conflict (project_id, email) do nothing returning id, email
	), known as (
		select id, email from present union all select id, email from created
	), entered as (
		insert into segment_members (project_id, segment_id, contact_id, computed)
		select $projectId, $segmentId::uuid, id, false from known order by id
		on conflict do nothing returning contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $projectId, $eventName::text, contact_id, $eventData::jsonb from entered
			where $eventName::text is not null
	)
	select (select count(*)::int from entered) as added, (select count(*)::int from created) as created,
		(select count(*)::int from known) as known,
		array(select email from given where email not in (select email from known)) as "notFound"`,
})

export const removeMembers = statement('remove-segment-members', {
	params: {
		projectId: uuid,
		segmentId: uuid,
		emails: text.array,
		eventName: text.orNull,
		eventData: json<object>().orNull,
	},
	row: { removed: int },
	text: `with member as materialized (
		select m.contact_id from segment_members m
		join contacts c on c.project_id = $projectId and c.id = m.contact_id
			and c.email = any($emails::text[])
		where m.project_id = $projectId and m.segment_id = $segmentId::uuid
		order by m.contact_id for update of m
	), gone as (
		delete from segment_members m using member
		where m.project_id = $projectId and m.segment_id = $segmentId::uuid
			and m.contact_id = member.contact_id
		returning m.contact_id
	), emitted as (
		insert into events (project_id, name, contact_id, data)
		select $projectId, $eventName::text, contact_id, $eventData::jsonb from gone
			where $eventName::text is not null
	)
	select count(*)::int as removed from gone`,
})

/** The page is selected from the index before any contact is read. */
export const storedMembers = statement('stored-segment-members', {
	params: { projectId: uuid, segmentId: uuid, limit: int, offset: bigint },
	row: contactRecordColumns,
	text: `select ${contactRecordFrom('c')} from (
		select contact_id, created_at from segment_members
		where project_id = $projectId and segment_id = $segmentId::uuid and not computed
		order by created_at desc, contact_id desc limit $limit::int offset $offset::bigint
	) m join contacts c on c.project_id = $projectId and c.id = m.contact_id
	order by m.created_at desc, m.contact_id desc`,
})

const findMatching = query('matching-members', { ...contactIfFound, total: int })

/** The current members of a dynamic segment: a page and the total, in one pass. */
export async function matchingMembers(
	db: Pool | PoolClient,
	segment: SegmentRecord,
	limit: number,
	offset: number,
): Promise<{ total: number; data: ContactRecord[] }> {
	const matches = await compileFor(db, segment.projectId, segment.condition!)
	const project = uuid.value(segment.projectId)
	const rows = await findMatching(
		db,
		sql`with matching as materialized (
			select id, created_at from contacts c where c.project_id = ${project} and ${matches}
		), counted as (
			select count(*)::int as total from matching
		), page as (
			select id from matching order by created_at desc, id desc
			limit ${int.value(limit)} offset ${bigint.value(offset)}
		)
		select counted.total, contacts.* from counted left join (
			select ${ownText(contactRecordFrom('c'))} from page
			join contacts c on c.project_id = ${project} and c.id = page.id
		) contacts on true
		order by "createdAt" desc, id desc`,
	)
	return { total: rows[0]!.total, data: rows.filter(isFound) }
}
