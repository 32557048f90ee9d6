import { MockActivityEnvironment } from '@temporalio/testing'
import test, { type ExecutionContext } from 'ava'
import { type RemovedRows, projectActivities } from '../activities/projects.ts'
import { Domain } from '../db/domains/domain.ts'
import {
	kept,
	restartRemovals,
	tablesOfProjects,
	unfinishedRemovals,
} from '../db/projects/project-removal.ts'
import { vacuum } from '../db/vacuum.ts'
import { setup, startApp } from './helpers/app.ts'
import { lockWaits, turnsEnded } from './helpers/locks.ts'
import { splitIntoMonths } from './helpers/months.ts'
import { addMember, createUser } from './helpers/people.ts'

/** A project with an owner, a domain and one of most kinds of records. */
async function setupProject(t: ExecutionContext) {
	const context = await setup(t)
	const { app, orm, pool, project, withSecretKey } = context
	const { user, headers } = await createUser(app, orm, 'owner@example.org')
	await addMember(orm, project, user, 'OWNER')
	const em = orm.em.fork()
	em.create(Domain, { projectId: project.id, domain: 'example.com', verifiedAt: new Date() })
	await em.flush()
	const call = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
		app.inject({ method, url, headers: withSecretKey, ...(payload ? { payload } : {}) })
	const from = 'shop@example.com'
	async function fill() {
		const contact = { email: 'c@example.org', data: { plan: 'pro' } }
		t.is((await call('POST', '/contacts', contact)).statusCode, 201)
		const template = { name: 'Hi', subject: 'Hi', body: 'Hi', from }
		t.is((await call('POST', '/templates', template)).statusCode, 201)
		const segment = { name: 'All', type: 'STATIC', trackMembership: true }
		const { id } = (await call('POST', '/segments', segment)).json<{ id: string }>()
		const members = { emails: ['c@example.org', 'd@example.org'], createMissing: true }
		t.is((await call('POST', `/segments/${id}/members`, members)).statusCode, 200)
		const mail = { to: 'e@example.org', from, subject: 'Hi', body: 'Hi' }
		t.is((await call('POST', '/v1/send', mail)).statusCode, 200)
		t.is((await call('POST', '/suppressions', { email: 'f@example.org' })).statusCode, 201)
	}
	await fill()
	const relay = { wake: () => {} }
	const stopping = new AbortController()
	const { removeProjectRows, endProjectRuns } = projectActivities({
		pool,
		relay,
		stopping: stopping.signal,
	})
	const graves = async () =>
		(
			await pool.query<{ id: string }>('select id from projects where deleted_at is not null')
		).rows.map(({ id }) => id)
	const rowsOf = async (projectId: string) => {
		const counts: Record<string, number> = {}
		for (const table of await tablesOfProjects(pool)) {
			const { rowCount } = await pool.query(`select from ${table} where project_id = $1`, [
				projectId,
			])
			if (rowCount) counts[table] = rowCount
		}
		return counts
	}
	const removePage = (projectId: string): Promise<RemovedRows> =>
		new MockActivityEnvironment().run(removeProjectRows, projectId)
	return {
		...context,
		call,
		fill,
		from,
		headers,
		graves,
		rowsOf,
		asUser: (method: 'POST' | 'DELETE' | 'GET', url: string) =>
			app.inject({ method, url, headers }),
		endRuns: (projectId: string) =>
			new MockActivityEnvironment().run(endProjectRuns, projectId) as Promise<number>,
		/** Stops the process that removes. */
		stop: () => stopping.abort(),
		removePage,
		/** Removes all pages; on a slow machine there are several. */
		async remove(projectId: string) {
			let removed = 0
			for (;;) {
				const page = await removePage(projectId)
				removed += page.removed
				if (page.isLast) return removed
			}
		},
	}
}

test('the rows of all months are deleted in pages, none with the row of the project', async (t) => {
	const { asUser, pool, project, graves, remove } = await setupProject(t)
	await pool.query('delete from queued_sends; delete from attempts; delete from emails')
	await splitIntoMonths(pool, 2, 1, 0)
	await pool.query(
		`insert into emails (id, project_id, "to", "from", subject, type, source_type, status)
		select uuidv7(- interval '1 month' * months), $1, 'g@example.org', 'shop@example.com', 'Hi', 'TRANSACTIONAL', 'TRANSACTIONAL', 'SENT'
		from generate_series(1, 2) months, generate_series(1, 2500)`,
		[project.id],
	)
	await pool.query(`create table left_mails (id uuid);
		create function note_left_mails() returns trigger language plpgsql as $$ begin
			insert into left_mails select id from emails where project_id = old.id;
			return old;
		end $$;
		create trigger a_note_left_mails before delete on projects for each row execute function note_left_mails()`)
	t.is((await asUser('POST', `/users/@me/projects/${project.id}/reset`)).statusCode, 200)
	const [grave] = await graves()
	t.true((await remove(grave!)) >= 5000)
	t.is((await pool.query('select from left_mails')).rowCount, 0)
	t.is((await pool.query(`select from emails where "to" = 'g@example.org'`)).rowCount, 0)
})

test('a reset project is empty at once, and keeps its id, keys, members and domains', async (t) => {
	const context = await setupProject(t)
	const { asUser, call, project, pool, from, wakes, secretKey } = context
	const before = (await asUser('GET', '/users/@me/projects')).json<{ id: string }[]>()
	const woken = wakes.count
	const answer = await asUser('POST', `/users/@me/projects/${project.id}/reset`)
	t.is(answer.statusCode, 200)
	t.is(typeof answer.json().message, 'string')
	t.true(wakes.count > woken)

	for (const list of ['/contacts', '/templates', '/emails', '/suppressions'])
		t.deepEqual((await call('GET', list)).json().data, [], list)
	t.deepEqual((await call('GET', '/segments')).json(), [])
	t.deepEqual((await call('GET', '/events')).json().events, [])
	const after = (await asUser('GET', '/users/@me/projects')).json<{ id: string }[]>()
	t.like(after[0], {
		...before[0],
		updatedAt: (after[0] as unknown as { updatedAt: string }).updatedAt,
	})
	t.is(after.length, 1)
	const template = { name: 'Hi', subject: 'Hi', body: 'Hi', from }
	const created = await call('POST', '/templates', template)
	t.is(created.statusCode, 201)
	// Records contain the project's public id.
	t.is(created.json().projectId, project.id)
	const byHeader = await context.app.inject({
		url: '/templates',
		headers: { ...context.headers, 'x-project-id': project.id },
	})
	t.is(byHeader.json().data[0].projectId, project.id)
	const other = await startApp(t, context.orm)
	const authorization = `Bearer ${secretKey}`
	t.is((await other.app.inject({ url: '/contacts', headers: { authorization } })).json().total, 0)
	const { rows } = await pool.query(
		`select workflow_type, workflow_id, payload, project_id from outbox where workflow_type = 'deleteProject'`,
	)
	const [grave] = await context.graves()
	t.deepEqual(rows, [
		{
			workflow_type: 'deleteProject',
			workflow_id: `delete/${grave}`,
			payload: { projectId: grave },
			project_id: grave,
		},
	])
})

test('a reset removes all old data, and nothing else', async (t) => {
	const { asUser, fill, project, graves, rowsOf, remove, pool } = await setupProject(t)
	const old = await rowsOf(project.id)
	await asUser('POST', `/users/@me/projects/${project.id}/reset`)
	await fill()
	const { rows } = await pool.query<{ id: string }>(
		'select id from projects where public_id = $1',
		[project.id],
	)
	const fresh = await rowsOf(rows[0]!.id)
	const [grave] = await graves()
	t.is(grave, project.id)
	const buried = await rowsOf(grave!)
	t.is(buried['contacts'], old['contacts'])
	t.true(Object.keys(buried).length > 8, JSON.stringify(buried))
	t.deepEqual(
		kept.filter((table) => buried[table]),
		[],
	)
	t.true((await remove(grave!)) >= 10)
	t.deepEqual(await rowsOf(grave!), {})
	t.deepEqual(await graves(), [])
	t.deepEqual(await rowsOf(rows[0]!.id), fresh)
	t.is(await remove(grave!), 0)
})

test('a project can be reset repeatedly, even twice at once', async (t) => {
	const { asUser, call, fill, project, graves } = await setupProject(t)
	const reset = () => asUser('POST', `/users/@me/projects/${project.id}/reset`)
	await Promise.all([reset(), reset(), reset()])
	await fill()
	t.is((await reset()).statusCode, 200)
	t.is((await call('GET', '/contacts')).json().total, 0)
	t.true((await graves()).length >= 2)
})

test('a deleted project disappears at once for its keys and members, and its domains are free', async (t) => {
	const context = await setupProject(t)
	const { asUser, call, project, pool, graves, remove, rowsOf } = context
	const answer = await asUser('DELETE', `/users/@me/projects/${project.id}`)
	t.is(answer.statusCode, 204)
	t.is(answer.body, '')
	t.is((await call('GET', '/contacts')).statusCode, 401)
	t.deepEqual((await asUser('GET', '/users/@me/projects')).json(), [])
	t.is((await asUser('DELETE', `/users/@me/projects/${project.id}`)).statusCode, 404)
	const byHeader = { ...context.headers, 'x-project-id': project.id }
	const listed = await context.app.inject({ url: '/contacts', headers: byHeader })
	t.is(listed.json().error.code, 'PROJECT_ACCESS_DENIED')
	t.is((await pool.query(`select from domains where domain = 'example.com'`)).rowCount, 0)
	t.deepEqual(await graves(), [project.id])
	await remove(project.id)
	t.deepEqual(await rowsOf(project.id), {})
	t.is((await pool.query('select from projects where id = $1', [project.id])).rowCount, 0)
})

test('a worker that stops leaves the rest of a deleted project to the next', async (t) => {
	const { asUser, project, rowsOf, stop, removePage } = await setupProject(t)
	t.is((await asUser('DELETE', `/users/@me/projects/${project.id}`)).statusCode, 204)
	const before = await rowsOf(project.id)
	stop()
	t.deepEqual(await removePage(project.id), { removed: 0, isLast: false })
	t.deepEqual(await rowsOf(project.id), before)
})

test('rows of a project that can be reached are not removed', async (t) => {
	const { project, remove, rowsOf } = await setupProject(t)
	const before = await rowsOf(project.id)
	await t.throwsAsync(remove(project.id), { message: /Only the rows of a deleted project/ })
	t.deepEqual(await rowsOf(project.id), before)
})

test('running workflows are ended in Temporal before their rows are deleted', async (t) => {
	const { asUser, project, pool, endRuns, remove } = await setupProject(t)
	t.true((await pool.query('select from contacts')).rowCount === 3)
	await pool.query(
		`with automation as (
			insert into automations (project_id, name, trigger_type) values ($1, 'Hi', 'MANUAL')
			returning id
		), version as (
			insert into automation_versions (project_id, automation_id, version, hash, definition, positions)
			select $1, id, 1, '', '{}', '{}' from automation
		)
		insert into executions (project_id, automation_id, version, contact_id, allow_reentry, status)
		select $1, automation.id, 1, c.id, true, 'WAITING' from automation, contacts c`,
		[project.id],
	)
	await t.throwsAsync(endRuns(project.id), { message: /Only the rows of a deleted project/ })
	await asUser('DELETE', `/users/@me/projects/${project.id}`)
	t.true((await endRuns(project.id)) > 3)
	const { rows } = await pool.query(
		`select distinct status, exit_reason from executions where project_id = $1`,
		[project.id],
	)
	t.deepEqual(rows, [{ status: 'CANCELLED', exit_reason: 'Project deleted' }])
	// Simulates the run that closes them, and then the relay.
	await pool.query('update executions set is_closing = false')
	t.true((await endRuns(project.id)) > 0)
	await pool.query(`update outbox set done_at = now() where workflow_type <> 'deleteProject'`)
	t.is(await endRuns(project.id), 0)
	await remove(project.id)
	t.is(await endRuns(project.id), 0)
})

test('a removal whose run Temporal has lost is found, and started again', async (t) => {
	const { asUser, project, pool } = await setupProject(t)
	await asUser('DELETE', `/users/@me/projects/${project.id}`)
	const found = () => unfinishedRemovals(pool, { limit: 10 })
	await pool.query(
		`update projects set deleted_at = now() - interval '6 minutes' where deleted_at is not null`,
	)
	t.deepEqual(await found(), [])
	await pool.query('update outbox set done_at = now()')
	const lost = await found()
	t.deepEqual(lost, [{ project_id: project.id, workflow_id: `delete/${project.id}` }])
	await restartRemovals(pool, { runs: lost, taskQueue: 'core' })
	const { rows } = await pool.query(
		`select workflow_type, payload from outbox where done_at is null and workflow_id = $1`,
		[`delete/${project.id}`],
	)
	t.deepEqual(rows, [{ workflow_type: 'deleteProject', payload: { projectId: project.id } }])
	t.deepEqual(await found(), [])
})

test('a removal continues where another one died', async (t) => {
	const { asUser, project, remove, pool, rowsOf } = await setupProject(t)
	await asUser('DELETE', `/users/@me/projects/${project.id}`)
	await pool.query(`create function no_further() returns trigger language plpgsql as $$
		begin raise exception 'no further' using errcode = '57P01'; end $$`)
	await pool.query(
		`create trigger no_further before delete on contacts execute function no_further()`,
	)
	await t.throwsAsync(remove(project.id), { message: /no further/ })
	t.is((await rowsOf(project.id))['contacts'], 3)
	t.is((await rowsOf(project.id))['segment_members'], undefined)
	await pool.query('drop trigger no_further on contacts')
	await remove(project.id)
	t.deepEqual(await rowsOf(project.id), {})
})

test('a table comes after all tables that refer to it', async (t) => {
	const { pool } = await setup(t)
	const tables = await tablesOfProjects(pool)
	const before = (one: string, other: string) =>
		t.true(tables.indexOf(one) < tables.indexOf(other), `${one} before ${other}`)
	before('attempts', 'emails')
	before('events', 'contacts')
	before('emails', 'contacts')
	before('segment_members', 'contacts')
	before('segment_members', 'segments')
	for (const table of kept) t.true(tables.includes(table), table)
})

test('tables are vacuumed after removals one at a time', async (t) => {
	const { pool } = await setup(t)
	t.true(await vacuum(pool, 'contacts'))
	const holder = await pool.connect()
	await holder.query('begin; lock table contacts in share update exclusive mode')
	const first = vacuum(pool, 'contacts')
	await lockWaits(t, pool, 1)
	t.false(await vacuum(pool, 'segments'))
	await holder.query('commit')
	holder.release()
	t.true(await first)
	t.true(await vacuum(pool, 'segments'))
	await t.throwsAsync(vacuum(pool, 'no_such_table'))
	await turnsEnded(t, pool)
	t.true(await vacuum(pool, 'segments'))
})
