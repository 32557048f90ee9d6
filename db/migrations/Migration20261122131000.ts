import { Migration } from '@mikro-orm/migrations'

/**
 * Accounts whose address was not verified could be added to projects, and confirming the address would have
 * let in whoever signed up with it. Such accounts count as unknown by now: they are invited again.
 */
export class Migration20261122131000 extends Migration {
	override name = 'Migration20261122131000'

	override up() {
		this.addSql(`delete from "memberships" m using "users" u where u.id = m.user_id and m.role <> 'OWNER' and u.email_verified_at is null`)
	}
}
