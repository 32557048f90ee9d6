import { Migration } from '@mikro-orm/migrations'
import { readdirSync, readFileSync } from 'node:fs'

const folder = `${import.meta.dirname}/first-schema`

/** The tables of the first release: one file per noun, then the references between them. */
export class Migration20261122170000 extends Migration {
	override name = 'Migration20261122170000'

	override up() {
		// For searches in addresses.
		this.addSql('create extension if not exists pg_trgm')
		const files = readdirSync(folder).toSorted()
		const tables = files.filter((file) => file !== 'references.sql')
		for (const file of [...tables, 'references.sql'])
			this.addSql(readFileSync(`${folder}/${file}`, 'utf8'))
	}
}
