import { Migration } from '@mikro-orm/migrations'

/**
 * Whoever deletes a workflow does not wait until all of its executions are gone, nor do the events that
 * begin it: they go behind it, and until then refer to a version that is no more. Whoever begins one
 * locks the workflow's row.
 */
export class Migration20261121184937 extends Migration {
	override name = 'Migration20261121184937'

	override up() {
		this.addSql(`create table "removed_automations" ("project_id" uuid not null, "id" uuid not null, primary key ("project_id", "id"))`)
		this.addSql(`alter table "removed_automations" add constraint "removed_automations_project" foreign key ("project_id") references "projects" ("id") on delete cascade`)
		this.addSql(`alter table "executions" alter constraint "executions_version" not enforced`)
	}
}
