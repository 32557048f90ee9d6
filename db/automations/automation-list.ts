import type { Pool } from 'pg'
import { containing } from '../like.ts'
import { statement } from '../statement.ts'
import { automationColumns, type AutomationRecord } from './automation-records.ts'

export interface ListedAutomation extends AutomationRecord {
	_count: { steps: number; executions: number }
}

export const automationSorts = { name: 'name', createdAt: 'created_at', updatedAt: 'updated_at' }
export type AutomationSort = keyof typeof automationSorts

export interface AutomationFilter {
	search?: string
	enabled?: boolean
	sort: AutomationSort
	dir: 'asc' | 'desc'
	limit: number
	offset: number
}

const matching = `a.project_id = $1 and ($2::text is null or a.name ilike $2 or a.description ilike $2)
	and ($3::bool is null or a.enabled = $3)`

const countAutomations = statement<{ total: number }>(
	'count-automations',
	`select count(*)::int as total from automations a where ${matching}`,
)

/** Counted of those on the page only. */
const listSorted = (sort: AutomationSort, dir: 'asc' | 'desc') =>
	statement<ListedAutomation>(
		`list-automations-${sort}-${dir}`,
		`select ${automationColumns}, json_build_object(
			'steps', (select count(*) from automation_steps s
				where s.project_id = $1 and s.automation_id = a.id),
			'executions', (select count(*) from executions e
				where e.project_id = $1 and e.automation_id = a.id)) as "_count"
		from (
			select * from automations a where ${matching}
			order by a.${automationSorts[sort]} ${dir}, a.id ${dir} limit $4::int offset $5::bigint
		) a
		order by a.${automationSorts[sort]} ${dir}, a.id ${dir}`,
	)

export async function listAutomations(pool: Pool, projectId: string, filter: AutomationFilter) {
	const { search, enabled = null, sort, dir, limit, offset } = filter
	const values = [projectId, search ? containing(search) : null, enabled]
	const [rows, [counted]] = await Promise.all([
		listSorted(sort, dir)(pool, [...values, limit, offset]),
		countAutomations(pool, values),
	])
	return { rows, total: counted!.total }
}
