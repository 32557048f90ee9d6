// `npm run client`: writes the client's types and routes again, from the document of the API in this tree.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MikroORM } from '@mikro-orm/postgresql'
import { createApp } from '../../api/app.ts'
import { readSettings } from '../../api/settings.ts'
import config from '../../db/config.ts'
import type { Document } from './document.ts'
import { formatted } from './format.ts'
import { generate } from './generate.ts'

const folder = join(import.meta.dirname, '..')

// The document does not depend on data, so no database is asked.
const orm = new MikroORM({ ...config, ensureDatabase: false })
const app = await createApp({
	orm,
	relay: { wake() {}, wakeSends() {} },
	settings: readSettings({ SESSION_SECRET: 'only for the document' }),
	checkTemporal: async () => ({ temporal: false, worker: false }),
})
const document = (await app.inject('/openapi.json')).json<Document>()
for (const [name, text] of Object.entries(generate(document)))
	writeFileSync(join(folder, name), formatted(name, text))
await app.close()
await orm.close()
