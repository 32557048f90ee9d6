import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { chores } from '../db/housekeeping.ts'
import { createProject, setup } from './helpers/app.ts'
import { lockWaits } from './helpers/locks.ts'

// References of mass rows are checked by triggers, once per statement: see db/references.sql.

const unknownId = '00000000-0000-7000-8000-00000000dead'
const foreignKeyViolation = '23503'

async function setupReferences(t: ExecutionContext) {
	const context = await setup(t)
	const { pool, project, orm } = context
	const newContact = (projectId: string, email: string) =>
		idOf(
			pool,
			'insert into contacts (project_id, email, subscribed) values ($1, $2, true) returning id',
			[projectId, email],
		)
	const newSegment = (projectId: string) =>
		idOf(
			pool,
			`insert into segments (project_id, name, type, track_membership) values ($1, 'All', 'STATIC', false) returning id`,
			[projectId],
		)
	const other = (await createProject(orm)).project.id
	return {
		...context,
		ann: await newContact(project.id, 'ann@example.org'),
		bob: await newContact(project.id, 'bob@example.org'),
		segment: await newSegment(project.id),
		newContact,
		theirs: {
			project: other,
			contact: await newContact(other, 'eve@example.org'),
			segment: await newSegment(other),
			template: await idOf(
				pool,
				`insert into templates (project_id, name, subject, body, "from")
				values ($1, 'a', 'b', 'c', 'us@example.com') returning id`,
				[other],
			),
		},
	}
}

async function idOf(pool: Pool, sql: string, values: unknown[]) {
	const { rows } = await pool.query<{ id: string }>(sql, values)
	return rows[0]!.id
}

const addEvents = `insert into events (project_id, name, contact_id) select $1::uuid, 'x', unnest($2::uuid[])`
const addMails = `insert into emails (project_id, "to", "from", subject, source_type, type, contact_id)
	select $1::uuid, 'a@example.org', 'b@example.com', 'x', 'TRANSACTIONAL', 'TRANSACTIONAL', unnest($2::uuid[])`
const addMembers = `insert into segment_members (project_id, segment_id, contact_id, computed)
	select $1::uuid, $3::uuid, unnest($2::uuid[]), false`

test('a row that refers to a contact, a segment, a mail, a template or a project that is not there is refused, with all of its statement', async (t) => {
	const { pool, project, ann, segment, theirs } = await setupReferences(t)
	const isRefused = async (constraint: string, sql: string, values: unknown[]) =>
		t.like(
			await t.throwsAsync(pool.query(sql, values)),
			{ code: foreignKeyViolation, constraint },
			`${constraint}: ${sql}`,
		)
	for (const contact of [unknownId, theirs.contact]) {
		await isRefused('events_contact', addEvents, [project.id, [ann, contact]])
		await isRefused('emails_contact', addMails, [project.id, [ann, contact]])
		await isRefused('segment_members_contact', addMembers, [project.id, [ann, contact], segment])
	}
	for (const foreign of [unknownId, theirs.segment])
		await isRefused('segment_members_segment', addMembers, [project.id, [ann], foreign])
	await isRefused('events_project', addEvents, [unknownId, [null]])
	await isRefused('emails_project', addMails, [unknownId, [null]])
	for (const foreign of [unknownId, theirs.template])
		await isRefused(
			'emails_template',
			`insert into emails (project_id, "to", "from", subject, source_type, type, template_id)
				values ($1, 'a@example.org', 'b@example.com', 'x', 'TRANSACTIONAL', 'TRANSACTIONAL', $2)`,
			[project.id, foreign],
		)
	await isRefused(
		'contacts_project',
		`insert into contacts (project_id, email, subscribed) values ($1, 'x@example.org', true)`,
		[unknownId],
	)
	await pool.query(addMails, [theirs.project, [null]])
	const { rows } = await pool.query('select id from emails where project_id = $1', [theirs.project])
	await isRefused(
		'events_email',
		`insert into events (project_id, name, email_id) values ($1, 'x', $2)`,
		[project.id, rows[0].id],
	)
	for (const table of ['events', 'emails', 'segment_members'])
		t.is((await pool.query(`select from ${table} where project_id = $1`, [project.id])).rowCount, 0)
})

test('deleted contacts, however many, keep their mails and events and leave their segments', async (t) => {
	const { pool, project, ann, bob, segment, newContact } = await setupReferences(t)
	const cal = await newContact(project.id, 'cal@example.org')
	const all = [ann, bob, cal]
	await pool.query(addEvents, [project.id, all])
	await pool.query(addMails, [project.id, all])
	await pool.query(addMembers, [project.id, all, segment])
	await pool.query('delete from contacts where id = any($1)', [[ann, bob]])
	for (const table of ['events', 'emails']) {
		const { rows } = await pool.query(
			`select contact_id from ${table} where project_id = $1 order by contact_id`,
			[project.id],
		)
		t.deepEqual(
			rows.map((row) => row.contact_id),
			[cal, null, null],
			table,
		)
	}
	t.is((await pool.query('select from segment_members')).rowCount, 1)
	await pool.query('delete from segments where id = $1', [segment])
	const { remove } = chores.find(({ what }) => what === 'members of deleted segments')!
	t.is(await remove(pool, 10, 30), 1)
	t.is((await pool.query('select from segment_members')).rowCount, 0)
})

test('deleting a contact and adding a reference to it wait for each other, in either order', async (t) => {
	const { pool, project, ann, bob } = await setupReferences(t)
	const first = await pool.connect()
	t.teardown(() => first.release())

	await first.query('begin')
	await first.query(addEvents, [project.id, [ann]])
	const deletion = pool.query('delete from contacts where id = $1', [ann])
	await lockWaits(t, pool, 1)
	await first.query('commit')
	await deletion
	t.deepEqual((await pool.query('select contact_id from events')).rows, [{ contact_id: null }])

	await first.query('begin')
	await first.query('delete from contacts where id = $1', [bob])
	const insertion = t.throwsAsync(pool.query(addMails, [project.id, [bob]]))
	await lockWaits(t, pool, 1)
	await first.query('commit')
	t.like(await insertion, { code: foreignKeyViolation, constraint: 'emails_contact' })
})

test('all data of a project is deleted with its row', async (t) => {
	const { pool, project, ann, bob, segment, theirs } = await setupReferences(t)
	await pool.query(addEvents, [project.id, [ann, null]])
	await pool.query(addMails, [project.id, [bob, null]])
	await pool.query(addMembers, [project.id, [ann], segment])
	const rowsOf = async (tables: string[]) => {
		const all = tables.map((table) => `select project_id from ${table}`).join(' union all ')
		const sql = `select from (${all}) found where project_id = $1`
		return (await pool.query(sql, [project.id])).rowCount
	}
	const mass = ['contacts', 'events', 'emails', 'segment_members']
	const groups = [
		...mass.map((table) => [table]),
		// Any statement may fold what it counted.
		...['mail', 'event', 'usage'].map((name) => [`${name}_tallies`, `${name}_counts`]),
		['contact_field_changes', 'contact_fields'],
	]
	for (const tables of groups) t.not(await rowsOf(tables), 0, tables.join())
	await pool.query('delete from projects where id = $1', [project.id])
	for (const tables of groups) t.is(await rowsOf(tables), 0, tables.join())
	t.is(
		(await pool.query('select from contacts where project_id = $1', [theirs.project])).rowCount,
		1,
	)
})
