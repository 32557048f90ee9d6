import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the counts of a period, however many days have been counted: see db/events/event-tally.ts. */
export class Migration20261127020000 extends ConcurrentIndex {
	override name = 'Migration20261127020000'
	index = 'event_counts_by_day'
	definition = `on "event_counts" ("project_id", "day")`
}
