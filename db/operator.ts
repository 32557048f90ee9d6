import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MikroORM } from '@mikro-orm/postgresql'
import config from './config.ts'
import { liftSuspension } from './reputation/suspending.ts'
import { poolOf } from './statement.ts'

// Actions that the API doesn't offer: npm run operator -- enable PROJECT_ID

const usage = 'Usage: npm run operator -- enable PROJECT_ID'

async function main([command, projectId, ...more]: string[]) {
	if (command !== 'enable' || !projectId || !isUuid(projectId) || more.length > 0)
		return [usage, 2] as const
	const orm = await MikroORM.init({ ...config, ...ofStart() })
	try {
		const pool = await poolOf(orm.em).catch(faultOf)
		if (typeof pool === 'string')
			return [`The database cannot be reached: ${pool}\n${advice}`, 1] as const
		const project = await liftSuspension(pool, { publicId: projectId })
		if (!project) return [`There is no project ${projectId}`, 1] as const
		const { name, reason, isLifted, isUnpaid } = project
		if (reason === null) return [`${name} is not disabled`, 0] as const
		if (!isLifted || isUnpaid)
			return [`${name} is disabled until its open invoices are paid`, 1] as const
		return [`${name} is enabled again; it was disabled: ${reason}`, 0] as const
	} finally {
		await orm.close()
	}
}

const advice = 'Start it with npm start, or set DATABASE_URL.'

/** If several addresses were tried, the reason is only a code. */
const faultOf = ({ message, code }: { message: string; code?: string }) => message || (code ?? '')

/** Without DATABASE_URL, the database of `npm start`, found in DATA_DIR/local.json. */
function ofStart() {
	const { DATABASE_URL, DATA_DIR = '.data' } = process.env
	const file = join(DATA_DIR, 'local.json')
	if (DATABASE_URL || !existsSync(file)) return {}
	return {
		clientUrl: (JSON.parse(readFileSync(file, 'utf8')) as { databaseUrl: string }).databaseUrl,
	}
}

const isUuid = (text = '') => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text)

const [message, code] = await main(process.argv.slice(2))
process.stdout.write(`${message}\n`)
process.exitCode = code
