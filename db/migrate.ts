import { MikroORM } from '@mikro-orm/postgresql'
import config from './config.ts'

const orm = await MikroORM.init(config)
try {
	await orm.schema.ensureDatabase()
	await orm.migrator.up()
} finally {
	await orm.close()
}
