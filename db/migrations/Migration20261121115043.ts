import { Migration } from '@mikro-orm/migrations'

/** Automations: as they are edited, and as they are frozen. */
export class Migration20261121115043 extends Migration {
	override name = 'Migration20261121115043'

	override up() {
		this.addSql(`create table "automations" ("id" uuid not null default uuidv7(), "project_id" uuid not null, "name" text not null, "description" text null, "enabled" boolean not null default false, "trigger_type" text not null default 'EVENT', "event_name" text null, "schedule" text null, "timezone" text null, "segment_id" uuid null, "allow_reentry" boolean not null default false, "current_version" int null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("id"))`)
		this.addSql(`create index "automations_of_event" on "automations" ("project_id", "event_name") where enabled and trigger_type = 'EVENT'`)
		this.addSql(`create index "automations_of_segment" on "automations" ("project_id", "segment_id") where segment_id is not null`)
		this.addSql(`alter table "automations" add constraint "automations_project_id_id_unique" unique ("project_id", "id")`)
		this.addSql(`alter table "automations" add constraint "automations_trigger_type_check" check ("trigger_type" in ('EVENT', 'MANUAL', 'SCHEDULE'))`)
		this.addSql(`create table "automation_event_names" ("project_id" uuid not null, "name" text not null, "automation_id" uuid not null, primary key ("project_id", "name", "automation_id"))`)
		this.addSql(`create index "automation_event_names_automation" on "automation_event_names" ("project_id", "automation_id")`)
		this.addSql(`create table "automation_steps" ("project_id" uuid not null, "automation_id" uuid not null, "id" uuid not null default uuidv7(), "type" text not null, "name" text not null, "x" double precision not null default 0, "y" double precision not null default 0, "config" jsonb not null default '{}', "template_id" uuid null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id", "automation_id", "id"))`)
		this.addSql(`create index "automation_steps_template" on "automation_steps" ("project_id", "template_id") where template_id is not null`)
		this.addSql(`alter table "automation_steps" add constraint "automation_steps_type_check" check ("type" in ('TRIGGER', 'SEND_EMAIL', 'DELAY', 'WAIT_FOR_EVENT', 'CONDITION', 'WEBHOOK', 'UPDATE_CONTACT', 'EXIT'))`)
		this.addSql(`create table "automation_transitions" ("project_id" uuid not null, "automation_id" uuid not null, "id" uuid not null default uuidv7(), "from_step_id" uuid not null, "to_step_id" uuid not null, "branch" text null, "priority" int not null default 0, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), primary key ("project_id", "automation_id", "id"))`)
		this.addSql(`create index "automation_transitions_to" on "automation_transitions" ("project_id", "automation_id", "to_step_id")`)
		this.addSql(`alter table "automation_transitions" add constraint "automation_transitions_branch" unique nulls not distinct ("project_id", "automation_id", "from_step_id", "branch")`)
		this.addSql(`create table "automation_versions" ("project_id" uuid not null, "automation_id" uuid not null, "version" int not null, "definition" jsonb not null, "hash" text not null, "positions" jsonb not null, "created_at" timestamptz(3) not null default now(), primary key ("project_id", "automation_id", "version"))`)

		for (const table of ['automations', 'automation_event_names', 'automation_steps', 'automation_transitions', 'automation_versions'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_project" foreign key ("project_id") references "projects" ("id") on delete cascade`,
			)
		for (const table of ['automation_event_names', 'automation_steps', 'automation_transitions', 'automation_versions'])
			this.addSql(
				`alter table "${table}" add constraint "${table}_automation" foreign key ("project_id", "automation_id") references "automations" ("project_id", "id") on delete cascade`,
			)
		// Both ends are steps of the same automation.
		for (const end of ['from', 'to'])
			this.addSql(
				`alter table "automation_transitions" add constraint "automation_transitions_${end}_step" foreign key ("project_id", "automation_id", "${end}_step_id") references "automation_steps" ("project_id", "automation_id", "id") on delete cascade`,
			)
		// What a step or a trigger uses cannot be deleted under it, whoever comes first.
		this.addSql(`alter table "automation_steps" add constraint "automation_steps_template" foreign key ("project_id", "template_id") references "templates" ("project_id", "id")`)
		this.addSql(`alter table "automations" add constraint "automations_segment" foreign key ("project_id", "segment_id") references "segments" ("project_id", "id")`)
	}
}
