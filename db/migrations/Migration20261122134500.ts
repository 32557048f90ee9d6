import { Migration } from '@mikro-orm/migrations'

/** What an author writes has a language of its own: it does not follow its reader's. */
export class Migration20261122134500 extends Migration {
	override name = 'Migration20261122134500'

	override up() {
		this.addSql(`alter table "templates" add column "language" text null`)
		this.addSql(`alter table "campaigns" add column "content_language" text null`)
		this.addSql(`alter table "emails" add column "content_language" text null`)
	}
}
