import { ConcurrentIndex } from '../concurrent-index.ts'

/** Finds the mails that a person had copies of, for erasing. Mails without copies are left out. */
export class Migration20261123184501 extends ConcurrentIndex {
	override name = 'Migration20261123184501'
	index = 'emails_copies'
	definition = 'on emails using gin (copies jsonb_path_ops) where copies is not null'
}
