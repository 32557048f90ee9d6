import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { makeScratch } from '../local/scratch.ts'
import { setup } from './helpers/app.ts'

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

const elsewhere = 'postgresql://postgres@127.0.0.1:9/nowhere'

test('the operator finds the database of npm start by itself', async (t) => {
	const { orm, pool, project } = await setup(t)
	const url = new URL(process.env['DATABASE_URL']!)
	url.pathname = orm.config.get('dbName')!
	const { rows } = await pool.query<{ id: string }>(
		`update projects set disabled_reason = 'EMAIL_REPUTATION' where id = $1 returning public_id as id`,
		[project.id],
	)
	const { id } = rows[0]!
	const DATA_DIR = dataDir(t, url.href)
	const enabled = await operator(['enable', id], { DATA_DIR })
	t.is(enabled.code, 0, enabled.stdout)
	t.regex(enabled.stdout, /is enabled again/)
	// A variable that is set takes precedence.
	const chosen = { DATA_DIR: dataDir(t, elsewhere), DATABASE_URL: url.href }
	t.regex((await operator(['enable', id], chosen)).stdout, /is not disabled/)
	t.like(await operator(['enable', randomUUID()], { DATA_DIR }), { code: 1 })
})

test('an operator without a reachable database gets one clear sentence', async (t) => {
	const { code, stdout } = await operator(['enable', randomUUID()], {
		DATA_DIR: dataDir(t, elsewhere),
	})
	t.is(code, 1)
	t.regex(stdout, /^The database cannot be reached: .*ECONNREFUSED.*\nStart it with npm start/)
})
