import type { ExecutionContext } from 'ava'
import { randomUUID } from 'node:crypto'
import { poolOf } from '../../db/statement.ts'
import { createProject } from './app.ts'
import { setupDatabase } from './database.ts'
import type { Group, Person } from './condition-oracle.ts'
import { randomPerson, randomTree } from './condition-random.ts'
import { randomFrom } from './random.ts'

/** People of all kinds, and segments of each kind over them. */
export async function populate(t: ExecutionContext, count: number) {
	const orm = await setupDatabase(t)
	const pool = await poolOf(orm.em)
	const { project } = await createProject(orm)
	const random = randomFrom(count)
	const people: Person[] = Array.from({ length: count }, (_, i) => ({
		id: randomUUID(),
		...randomPerson(random, i),
	}))
	const iso = (at?: number) => (at === undefined ? null : new Date(at).toISOString())
	for (const { id, email, subscribed, data, createdAt, updatedAt, events, mails } of people) {
		await pool.query(
			'insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7)',
			[id, project.id, email, subscribed, JSON.stringify(data), iso(createdAt), iso(updatedAt)],
		)
		for (const { name, at } of events)
			await pool.query(
				'insert into events (project_id, contact_id, name, created_at) values ($1, $2, $3, $4)',
				[project.id, id, name, iso(at)],
			)
		for (const { sent, opened, clicked, bounced } of mails)
			await pool.query(
				`insert into emails (project_id, contact_id, "to", "from", subject, source_type, sent_at, opened_at, clicked_at, bounced_at)
				values ($1, $2, $3, 'a@example.com', '', 'TRANSACTIONAL', $4, $5, $6, $7)`,
				[project.id, id, email, iso(sent), iso(opened), iso(clicked), iso(bounced)],
			)
	}
	const segments = new Map<string, Group>()
	for (const kind of ['static', 'tracked', 'nested', 'nested']) {
		const condition = randomTree(random, [...segments.keys()])
		const stored = kind === 'nested' ? undefined : people.filter(() => random.next() < 0.4)
		const { rows } = await pool.query<{ id: string }>(
			`insert into segments (project_id, name, type, condition, track_membership, computed_until)
			values ($1, $2, $3, $4, $5, case when $5 then now() end) returning id`,
			[
				project.id,
				kind,
				kind === 'static' ? 'STATIC' : 'DYNAMIC',
				JSON.stringify(condition),
				kind === 'tracked',
			],
		)
		const { id } = rows[0]!
		await pool.query(
			'insert into segment_members (project_id, segment_id, contact_id, computed) select $1, $2, unnest($3::uuid[]), true',
			[project.id, id, stored?.map((person) => person.id) ?? []],
		)
		segments.set(
			id,
			stored ? { members: new Set(stored.map((person) => person.id)) } : { condition },
		)
	}
	return { orm, pool, projectId: project.id, people, segments }
}
