import { Migration } from '@mikro-orm/migrations'

/** Traces survive the way through the outbox: a row notes the span that wrote it, if somebody follows. */
export class Migration20261121154353 extends Migration {
	override name = 'Migration20261121154353'

	override up() {
		for (const table of ['outbox', 'queued_sends'])
			this.addSql(`alter table "${table}" add column "trace" text null default NULLIF(current_setting('tempost.trace'::text, true), ''::text)`)
		this.addSql(`alter table "outbox" add column "trace_links" text[] null`)
	}
}
