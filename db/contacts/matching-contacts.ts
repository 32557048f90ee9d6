import type { Pool, PoolClient } from 'pg'
import { bool, int, timestamp, uuid } from '../sql-types.ts'
import { query, sql, type Sql } from '../sql.ts'

// The contacts `c` for which a predicate is true.

const count = query('count-matching-contacts', { count: int })

export async function countMatching(db: Pool | PoolClient, projectId: string, isMeant: Sql) {
	const [found] = await count(
		db,
		sql`select count(*)::int as count from contacts c
			where c.project_id = ${uuid.value(projectId)} and ${isMeant}`,
	)
	return found!.count
}

const one = query('is-contact-matching', {})

export async function isMatching(
	db: Pool | PoolClient,
	projectId: string,
	contactId: string,
	isMeant: Sql,
) {
	const found = await one(
		db,
		sql`select from contacts c where c.project_id = ${uuid.value(projectId)}
			and c.id = ${uuid.value(contactId)} and ${isMeant}`,
	)
	return found.length > 0
}

const page = query('matching-contacts', { ids: uuid.array, last: uuid.orNull, isLast: bool })

interface Part {
	projectId: string
	after: string
	/** Contacts that were created later are left out. */
	createdUntil: Date
	contacts: number
}

/**
 * Looks at the next contacts, so many of them, which limits the work even if few match. Returns the ids of those that
 * match, in order, and the last contact looked at: null if no contacts are left.
 */
export async function matchingAfter(
	db: Pool | PoolClient,
	{ projectId, after, createdUntil, contacts }: Part,
	isMeant: Sql,
) {
	const [found] = await page(
		db,
		sql`with looked as materialized (
				select * from contacts where project_id = ${uuid.value(projectId)}
					and id > ${uuid.value(after)} and created_at <= ${timestamp.value(createdUntil)}
				order by id limit ${int.value(contacts)}
			)
			select array(select c.id from looked c where ${isMeant} order by c.id) as ids,
				(select id from looked order by id desc limit 1) as last,
				(select count(*) from looked) < ${int.value(contacts)} as "isLast"`,
	)
	const { ids, last, isLast } = found!
	return { ids, last: isLast ? null : last }
}
