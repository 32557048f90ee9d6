import { Migration } from '@mikro-orm/migrations'

/** How far an enrolment is, and whom it was meant for when it began, stands in a row. */
export class Migration20261121220919 extends Migration {
	override name = 'Migration20261121220919'

	override up() {
		this.addSql(
			`create table "enrolments" ("project_id" uuid not null, "automation_id" uuid not null, "scheduled_for" timestamptz(3) not null, "workflow_id" text not null, "audience" jsonb not null, "after" uuid null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id", "automation_id", "scheduled_for"))`,
		)
		this.addSql(
			`alter table "enrolments" add constraint "enrolments_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
		)
		this.addSql(
			`alter table "enrolments" add constraint "enrolments_automation" foreign key ("project_id", "automation_id") references "automations" ("project_id", "id") on delete cascade`,
		)
	}
}
