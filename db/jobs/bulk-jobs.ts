import type { Pool } from 'pg'
import { compileWhole } from '../conditions/condition-segments.ts'
import type { Condition } from '../conditions/condition.ts'
import { containingLowered } from '../like.ts'
import { statement } from '../statement.ts'
import { transaction } from '../transaction.ts'
import { failJob, type JobKey, lockedContact } from './jobs.ts'

export const contactsAtOnce = 1000

/** Whom a bulk job is about, as its request described it. */
export interface BulkTarget {
	search?: string | undefined
	subscribed?: boolean | undefined
	condition?: Condition
	excludeIds?: string[]
	/** Of delete-field: the field. */
	field?: string
}

const noteTarget = statement<{ total: number }>(
	'note-bulk-target',
	`update jobs set total = (
		select coalesce(sum(cardinality(contact_ids)), 0) from job_contacts
		where project_id = $1 and job_id = $2)
	where project_id = $1 and id = $2 and state = 'active' and total is null returning total`,
)

/**
 * Sets down who is meant, once and for all: a job that changes what its filter asks for, or that goes
 * on after a crash, still does exactly those. False: nobody can say who is meant, and the job has failed.
 */
export const setTarget = (
	pool: Pool,
	{ projectId, jobId }: JobKey,
	{ search, subscribed, condition, excludeIds = [], field }: BulkTarget,
) =>
	transaction(
		pool,
		async (db) => {
			const values: unknown[] = [projectId, jobId]
			const put = (value: unknown, type: string) => `$${values.push(value)}::${type}`
			const where = ['c.project_id = $1']
			if (search) where.push(`c.email like ${put(containingLowered(search), 'text')}`)
			if (subscribed !== undefined) where.push(`c.subscribed = ${put(subscribed, 'bool')}`)
			if (excludeIds.length > 0)
				where.push(`c.id not in (select unnest(${put(excludeIds, 'uuid[]')}))`)
			if (field !== undefined) where.push(`c.data ? ${put(field, 'text')}`)
			if (condition) {
				const predicate = await compileWhole(db, projectId, condition)
				if (!predicate) {
					await failJob(db, [projectId, jobId, 'The filter names a segment that was deleted'])
					return false
				}
				where.push(`(${predicate.sql('c', values.length + 1)})`)
				values.push(...predicate.parameters)
			}
			await db.query(
				`insert into job_contacts (project_id, job_id, position, contact_ids)
				select $1, $2, min(place), array_agg(id order by place)
				from (
					select c.id, row_number() over (order by c.id) - 1 as place
					from contacts c where ${where.join(' and ')}
				) found
				group by place / ${contactsAtOnce}`,
				values,
			)
			const [noted] = await noteTarget(db, [projectId, jobId])
			// It was cancelled, or another try was faster and may have done it by now.
			if (!noted) throw new Error('Whom this job is about was set down meanwhile, or it has ended')
			return true
		},
		// A segment that is deleted meanwhile still has its members.
		'set transaction isolation level repeatable read',
	)

/**
 * What each kind of job does to the contacts of a chunk, as a WITH list that leaves
 * `changed (id, email)` and, for flips, an event. `locked (place, id, email, subscribed, data)` are
 * those that exist.
 */
const deeds = {
	'bulk-subscribe': flip(true),
	'bulk-unsubscribe': flip(false),
	'bulk-delete': `changed as (
		delete from contacts c using locked l where c.project_id = $1 and c.id = l.id returning c.id
	)`,
	'delete-field': `changed as (
		update contacts c set data = c.data - $3::text, updated_at = now()
		from locked l where c.project_id = $1 and c.id = l.id and l.data ? $3::text
		returning c.id
	)`,
} as const

function flip(subscribed: boolean) {
	return `changed as (
		update contacts c set subscribed = ${subscribed}, updated_at = now()
		from locked l where c.project_id = $1 and c.id = l.id and l.subscribed <> ${subscribed}
		returning c.id
	), flips as (
		insert into events (project_id, name, contact_id)
		select $1, 'contact.${subscribed ? '' : 'un'}subscribed', id from changed order by id
	)`
}

/** Does the next chunk. To be run by `inActiveJob`; the chunk goes with the deed, so it is done once. */
const chunkOf = (type: BulkType) =>
	statement<{ contacts: number }>(
		`${type}-chunk`,
		`with chunk as (
			delete from job_contacts where project_id = $1 and job_id = $2 and position = (
				select position from job_contacts where project_id = $1 and job_id = $2
				order by position limit 1)
			returning position, contact_ids
		), meant as materialized (
			select position + n as place, id
			from chunk cross join lateral unnest(contact_ids) with ordinality as m(id, n)
			order by id
		), locked as materialized (
			select m.place, c.*
			from meant m cross join lateral (${lockedContact('id = m.id', 'update')}) c
		), ${deeds[type]}, missing as (
			insert into job_errors (project_id, job_id, row, contact_id, error)
			select $1, $2, place, id, 'There is no such contact'
			from meant where id not in (select id from locked)
			returning row
		), counted as (
			select (select count(*) from meant) as contacts, (select count(*) from locked) as found,
				(select count(*) from changed) as changed, (select count(*) from missing) as missing
			from chunk
		), told as (
			update jobs set
				position = position + contacts,
				changed_count = changed_count + changed,
				unchanged_count = unchanged_count + found - changed,
				failed_count = failed_count + missing
			from counted where project_id = $1 and id = $2
		)
		select contacts::int from counted`,
	)

export type BulkType = keyof typeof deeds

/** $1 project, $2 job; of delete-field also $3 the field. No row: nothing is left. */
export const bulkChunks = Object.fromEntries(
	Object.keys(deeds).map((type) => [type, chunkOf(type as BulkType)]),
) as Record<BulkType, ReturnType<typeof chunkOf>>
