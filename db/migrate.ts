import { MikroORM } from '@mikro-orm/postgresql'
import config from './config.ts'
import { migrate } from './migrating.ts'

const orm = await MikroORM.init(config)
try {
	await migrate(orm)
} catch (error) {
	const { code, message } = error as { code?: string; message: string }
	if (!['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', '28P01', '3D000'].includes(code ?? ''))
		throw error
	process.stderr.write(`The database cannot be reached: ${message}\nCheck DATABASE_URL.\n`)
	process.exitCode = 1
} finally {
	await orm.close()
}
