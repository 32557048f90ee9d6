import { Migration } from '@mikro-orm/migrations'

/** The public key, the secret key and each session of a project have budgets of their own. */
export class Migration20261122133100 extends Migration {
	override name = 'Migration20261122133100'

	override up() {
		this.addSql(
			`create table "request_budgets" ("project_id" uuid not null, "spender" text not null, "window_start" timestamptz(3) not null, "leased" int not null, primary key ("project_id", "spender"))`,
		)
		this.addSql(
			`alter table "request_budgets" add constraint "request_budgets_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
		)
		// Most updates are of the counter alone: they stay within their page.
		this.addSql(`alter table "request_budgets" set (fillfactor = 20)`)
	}
}
