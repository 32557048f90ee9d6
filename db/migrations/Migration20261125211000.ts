import { Migration } from '@mikro-orm/migrations'

/** When a stop was reached, which may be earlier than when a worker began it: see db/executions/execution-step.ts. */
export class Migration20261125211000 extends Migration {
	override name = 'Migration20261125211000'

	override up() {
		this.addSql('alter table execution_steps add column reached_at timestamptz(3)')
	}
}
