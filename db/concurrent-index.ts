import { Migration } from '@mikro-orm/migrations'

/**
 * A migration for an index on a growing table. The index is built while others write, which Postgres does
 * only outside of transactions. Such a migration contains nothing else.
 */
export abstract class ConcurrentIndex extends Migration {
	/** A mark instead of `instanceof`: tests are bundled, and a migration imports this class from its source. */
	static isAlone = true
	abstract index: string
	/** The definition after its name: `on "emails" ("project_id", …) where …`, and whether it is unique. */
	abstract definition: string
	isUnique = false

	override isTransactional() {
		return false
	}

	override async up() {
		const [found] = await this.execute(
			'select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(?)',
			[`"${this.index}"`],
		)
		// A failed or interrupted build leaves an index that is written but never read.
		if (found && !found.isValid) this.addSql(`drop index concurrently "${this.index}"`)
		const kind = this.isUnique ? 'unique index' : 'index'
		this.addSql(`create ${kind} concurrently if not exists "${this.index}" ${this.definition}`)
	}
}
