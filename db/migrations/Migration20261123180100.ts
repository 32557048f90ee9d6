import { Migration } from '@mikro-orm/migrations'

/** One event of many mails, until it becomes deliveries: db/webhooks/webhook-batch.ts. */
export class Migration20261123180100 extends Migration {
	override name = 'Migration20261123180100'

	override up() {
		this.addSql(`create table webhook_batches (
			project_id uuid not null, endpoint_id uuid not null, id uuid not null default uuidv7(),
			type text not null, email_ids uuid[] not null, occurred_at timestamptz(3) not null,
			primary key (project_id, endpoint_id, id))`)
		this.addSql(`alter table webhook_batches add constraint webhook_batches_project
			foreign key (project_id) references projects (id) on delete cascade not enforced`)
		this.addSql(`alter table webhook_batches add constraint webhook_batches_endpoint
			foreign key (project_id, endpoint_id) references webhook_endpoints (project_id, id)
			on delete cascade not enforced`)
	}
}
