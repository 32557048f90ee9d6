import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the next rows of each project: see db/outbox/claims.ts. */
export class Migration20261125211500 extends ConcurrentIndex {
	override name = 'Migration20261125211500'
	index = 'outbox_in_turn'
	definition = `on "outbox" ("project_id", "priority", "id") where done_at is null`
}
