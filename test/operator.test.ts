import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { MikroORM } from '@mikro-orm/postgresql'
import test, { type ExecutionContext } from 'ava'
import type { Pool } from 'pg'
import { until } from '../bench/load.ts'
import { makeScratch } from '../local/scratch.ts'
import { setup } from './helpers/app.ts'
import { setupReputation } from './helpers/reputation.ts'

const root = join(import.meta.dirname, '..')

/** Runs the operator's command with this environment instead of the tests' own. */
async function operator(args: string[], environment: Record<string, string>) {
	const { DATABASE_URL: _, ...rest } = process.env
	const options = { cwd: root, env: { ...rest, ...environment } }
	const command = ['--import=tsx', join(root, 'db/operator.ts'), ...args]
	return promisify(execFile)(process.execPath, command, options).then(
		({ stdout }) => ({ code: 0, stdout }),
		({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
	)
}

function dataDir(t: ExecutionContext, databaseUrl: string) {
	const folder = makeScratch()
	t.teardown(() => rmSync(folder, { recursive: true, force: true }))
	writeFileSync(join(folder, 'local.json'), JSON.stringify({ databaseUrl }))
	return folder
}

function urlOf(orm: MikroORM) {
	const url = new URL(process.env['DATABASE_URL']!)
	url.pathname = orm.config.get('dbName')!
	return url.href
}

/** Returns the id that operators know. */
async function disable(pool: Pool, projectId: string) {
	const { rows } = await pool.query<{ id: string }>(
		`update projects set disabled_reason = 'EMAIL_REPUTATION' where id = $1 returning public_id as id`,
		[projectId],
	)
	return rows[0]!.id
}

const elsewhere = 'postgresql://postgres@127.0.0.1:9/nowhere'

test('the operator finds the database of npm start by itself', async (t) => {
	const { orm, pool, project } = await setup(t)
	const url = urlOf(orm)
	const id = await disable(pool, project.id)
	const DATA_DIR = dataDir(t, url)
	const enabled = await operator(['enable', id], { DATA_DIR })
	t.is(enabled.code, 0, enabled.stdout)
	t.regex(enabled.stdout, /is enabled again/)
	// A variable that is set takes precedence.
	const chosen = { DATA_DIR: dataDir(t, elsewhere), DATABASE_URL: url }
	t.regex((await operator(['enable', id], chosen)).stdout, /is not disabled/)
	t.like(await operator(['enable', randomUUID()], { DATA_DIR }), { code: 1 })
})

test('a project that is enabled again has no counts, also if they are compacted at that moment', async (t) => {
	const { orm, pool, project, reputation } = await setupReputation(t)
	await pool.query(
		`insert into reputation_tallies (project_id, hour, total, bounces, complaints)
		values ($1, date_trunc('hour', now(), 'UTC'), 100, 20, 1)`,
		[project.id],
	)
	const id = await disable(pool, project.id)
	const folding = await pool.connect()
	await folding.query('begin')
	const { rows } = await folding.query<{ pid: number }>(
		'select pg_backend_pid() as pid, fold_reputation($1)',
		[project.id],
	)
	const enabling = operator(['enable', id], { DATABASE_URL: urlOf(orm) })
	const waits = async () =>
		(
			await pool.query('select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [
				rows[0]!.pid,
			])
		).rowCount === 1
	t.true(await until(waits, 30_000))
	await folding.query('commit')
	folding.release()
	t.regex((await enabling).stdout, /is enabled again/)
	t.like((await reputation()).status, { allTime: { total: 0, bounces: 0, complaints: 0 } })
})

test('an operator without a reachable database gets one clear sentence', async (t) => {
	const { code, stdout } = await operator(['enable', randomUUID()], {
		DATA_DIR: dataDir(t, elsewhere),
	})
	t.is(code, 1)
	t.regex(stdout, /^The database cannot be reached: .*ECONNREFUSED.*\nStart it with npm start/)
})
