import { Migration } from '@mikro-orm/migrations'

/** Contacts as a list: sorted, filtered, searched, and no larger than allowed. */
export class Migration20261121052600 extends Migration {
	override name = 'Migration20261121052600'

	override up() {
		this.addSql(`create extension if not exists pg_trgm`)

		// A search walks an index alone, without touching the table, when too many match for trigrams to help.
		this.addSql(`alter table contacts drop constraint contacts_project_id_email_unique`)
		this.addSql(`alter table contacts add constraint contacts_project_id_email_unique unique (project_id, email) include (subscribed, id)`)
		this.addSql(`create index contacts_newest on contacts (project_id, subscribed, created_at, id) include (email)`)
		this.addSql(`create index contacts_search on contacts using gin (email gin_trgm_ops)`)
		// Scans of an index alone need pages that a vacuum has seen.
		this.addSql(`alter table contacts set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.02)`)

		// 64 KB of JSON as JavaScript writes it. Postgres puts a space after each colon and comma; what is
		// small in its own form need not be written out to know.
		this.addSql(`create function contact_data_fits(data jsonb) returns bool immutable parallel safe return
			pg_column_size(data) < 8192 or octet_length(data::text) <= 65536
			or octet_length(data::text) - (
				select coalesce(sum(case jsonb_typeof(node)
					when 'array' then greatest(jsonb_array_length(node) - 1, 0)
					when 'object' then greatest(2 * (select count(*) from jsonb_object_keys(node)) - 1, 0)
					else 0 end), 0)
				from jsonb_path_query(data, 'strict $.**') as node
			) <= 65536`)
	}
}
