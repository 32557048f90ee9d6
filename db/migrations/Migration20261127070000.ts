import { Migration } from '@mikro-orm/migrations'

/** Housekeeping deletes the members of deleted segments: see db/segments/removed-segment.ts. */
export class Migration20261127070000 extends Migration {
	override name = 'Migration20261127070000'

	override up() {
		this.addSql(`create table removed_segments (
			project_id uuid not null,
			id uuid not null,
			primary key (project_id, id)
		)`)
		this.addSql(`alter table removed_segments add constraint removed_segments_project
			foreign key (project_id) references projects(id) on delete cascade`)
	}
}
