import { Migration } from '@mikro-orm/migrations'

/**
 * Which values of a field are kept. What this calls must be as immutable as it says it is itself:
 * pg_column_size is not, so Postgres called a function for each value instead of writing it into the
 * query, which was half of what the statistics cost.
 */
export class Migration20261121151237 extends Migration {
	override name = 'Migration20261121151237'

	override up() {
		this.addSql(`create or replace function contact_field_value(value jsonb) returns jsonb immutable parallel safe return
			case when jsonb_typeof(value) in ('object', 'array') then null
				when length(value #>> '{}') > 500 then null
				else value end`)
	}
}
