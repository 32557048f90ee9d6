import { Migration } from '@mikro-orm/migrations'

/**
 * No row so far has an id of the month after next, or later. Postgres then knows, without reading the rows, that
 * the tables of today can become the first partitions of the next migrations: see db/partitions.ts. Rows are read
 * here while others write, so each statement is a transaction of its own, and may be repeated.
 */
export class Migration20261123160000 extends Migration {
	static isAlone = true
	override name = 'Migration20261123160000'

	override isTransactional() {
		return false
	}

	override up() {
		const bound = `rpad(lpad(to_hex((1000 * extract(epoch from
			date_trunc('month', now(), 'UTC') + interval '2 months'))::bigint), 12, '0'), 32, '0')::uuid`
		for (const [table, id] of Object.entries({ emails: 'id', attempts: 'email_id', events: 'id' })) {
			this.addSql(`do $$ begin
				if not exists (select from pg_constraint where conname = '${table}_bound') then
					execute format('alter table ${table} add constraint ${table}_bound check (${id} < %L) not valid',
						${bound});
				end if;
			end $$`)
			this.addSql(`alter table ${table} validate constraint ${table}_bound`)
		}
	}
}
