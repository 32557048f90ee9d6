import { Migration } from '@mikro-orm/migrations'

/**
 * A migration for an index on a growing table. The index is built while others write, which Postgres does
 * only outside of transactions. Such a migration contains nothing else. A table in partitions gets it partition by
 * partition.
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
		const table = /^on "?(\w+)/.exec(this.definition)![1]!
		const [{ isPartitioned }] = (await this.execute(
			`select relkind = 'p' as "isPartitioned" from pg_class where oid = to_regclass(?)`,
			[table],
		)) as [{ isPartitioned: boolean }]
		if (!isPartitioned) return this.#build(this.index, this.definition)
		// Postgres builds no index of a whole partitioned table beside writers. This one begins empty, and partitions that
		// are made from now on have it from the start.
		const rest = this.definition.replace(/^on "?\w+"?/, '')
		await this.execute(
			`create ${this.#kind} if not exists "${this.index}" on only "${table}" ${rest}`,
		)
		const partitions = (await this.execute(
			'select inhrelid::regclass::text as name from pg_inherits where inhparent = to_regclass(?)',
			[table],
		)) as { name: string }[]
		for (const { name } of partitions) {
			const part = `${name}_${this.index}`
			await this.#build(part, `on "${name}" ${rest}`)
			this.addSql(`alter index "${this.index}" attach partition "${part}"`)
		}
	}

	get #kind() {
		return this.isUnique ? 'unique index' : 'index'
	}

	async #build(index: string, definition: string) {
		const [found] = await this.execute(
			'select indisvalid as "isValid" from pg_index where indexrelid = to_regclass(?)',
			[`"${index}"`],
		)
		// A failed or interrupted build leaves an index that is written but never read.
		if (found && !found.isValid) this.addSql(`drop index concurrently "${index}"`)
		this.addSql(`create ${this.#kind} concurrently if not exists "${index}" ${definition}`)
	}
}
