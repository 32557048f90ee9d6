import type { Pool, PoolClient } from 'pg'
import { int, uuid } from '../sql-types.ts'
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

const page = query('matching-contacts', { id: uuid })

/** A page of their ids, in order. */
export async function matchingAfter(
	db: Pool | PoolClient,
	{ projectId, after, limit }: { projectId: string; after: string; limit: number },
	isMeant: Sql,
) {
	const rows = await page(
		db,
		sql`select c.id from contacts c where c.project_id = ${uuid.value(projectId)}
			and c.id > ${uuid.value(after)} and ${isMeant}
			order by c.id limit ${int.value(limit)}`,
	)
	return rows.map(({ id }) => id)
}
