import { int, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The number of a project's mails, from the counts by quarter of an hour. */
export const mailTotal = statement('mail-total', {
	params: { projectId: uuid },
	row: { total: int },
	text: `select coalesce(sum(created), 0)::int as total from (
		select created from mail_counts where project_id = $projectId
		union all
		select created from mail_tallies where project_id = $projectId
	) counted`,
})
