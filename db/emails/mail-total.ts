import { statement } from '../statement.ts'

/** How many mails a project has, of what is kept by quarters of an hour. $1 project */
export const mailTotal = statement<{ total: number }>(
	'mail-total',
	`select coalesce(sum(created), 0)::int as total from (
		select created from mail_counts where project_id = $1
		union all
		select created from mail_tallies where project_id = $1
	) counted`,
)
