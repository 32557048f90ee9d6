import { Migration } from '@mikro-orm/migrations'

/** Customers' webhooks: db/webhooks. A replay is a job. */
export class Migration20261123180000 extends Migration {
	override name = 'Migration20261123180000'

	override up() {
		this.addSql(`create table webhook_endpoints (
			id uuid not null default uuidv7(), project_id uuid not null, url text not null, events text[] not null,
			description text null, ordering text not null default 'none', secret bytea not null,
			previous_secret bytea null, rotated_at timestamptz(3) null, disabled_reason text null,
			disabled_at timestamptz(3) null, told_at timestamptz(3) null, last_success_at timestamptz(3) null, failing_since timestamptz(3) null,
			failures_in_row int not null default 0, resting_until timestamptz(3) null,
			leased_until timestamptz(3) null, deleted_at timestamptz(3) null,
			created_at timestamptz(3) not null default now(), updated_at timestamptz(3) not null default now(),
			primary key (id),
			constraint webhook_endpoints_ordering_check check (ordering in ('none', 'email')),
			constraint webhook_endpoints_disabled_reason_check
				check (disabled_reason in ('OWNER', 'GONE', 'FAILING')))`)
		this.addSql(`alter table webhook_endpoints add constraint webhook_endpoints_project_id_id_unique
			unique (project_id, id)`)
		this.addSql('alter table webhook_endpoints set (fillfactor = 50)')
		this.addSql(`alter table webhook_endpoints add constraint webhook_endpoints_project
			foreign key (project_id) references projects (id) on delete cascade`)

		this.addSql(`create table webhook_deliveries (
			project_id uuid not null, endpoint_id uuid not null, id uuid not null default uuidv7(),
			event_id uuid not null, type text not null, email_id uuid null, contact_id uuid null,
			occurred_at timestamptz(3) not null, data jsonb null, payload text null,
			is_erased boolean not null default false, status text not null, tries smallint not null default 0,
			next_at timestamptz(3) null, attempts jsonb not null default '[]',
			primary key (project_id, endpoint_id, id),
			constraint webhook_deliveries_status_check check (status in ('PENDING', 'DELIVERED', 'FAILED', 'HELD')))`)
		this.addSql(`create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_at, id)
			where next_at is not null`)
		this.addSql(`create index webhook_deliveries_of_mail on webhook_deliveries (email_id, endpoint_id)
			where email_id is not null`)
		this.addSql(`create index webhook_deliveries_of_contact on webhook_deliveries (contact_id)
			where contact_id is not null`)
		this.addSql('alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.05)')
		this.addSql(`alter table webhook_deliveries add constraint webhook_deliveries_project
			foreign key (project_id) references projects (id) on delete cascade not enforced`)
		this.addSql(`alter table webhook_deliveries add constraint webhook_deliveries_endpoint
			foreign key (project_id, endpoint_id) references webhook_endpoints (project_id, id)
			on delete cascade not enforced`)

		this.addSql('alter table jobs drop constraint jobs_type_check')
		this.addSql(`alter table jobs add constraint jobs_type_check check (type in (
			'import', 'undo', 'bulk-subscribe', 'bulk-unsubscribe', 'bulk-delete', 'delete-field', 'replay'))`)
	}
}
