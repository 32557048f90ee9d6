import type { Pool } from 'pg'
import { containing } from '../like.ts'
import { bigint, bool, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import type { triggerTypes } from './automation.ts'

const automationRecordColumns = {
	id: uuid,
	projectId: uuid,
	name: text,
	description: text.orNull,
	enabled: bool,
	triggerType: text.of<(typeof triggerTypes)[number]>(),
	eventName: text.orNull,
	schedule: text.orNull,
	timezone: text.orNull,
	segmentId: uuid.orNull,
	allowReentry: bool,
	currentVersion: int.orNull,
	createdAt: timestamp,
	updatedAt: timestamp,
}

const automationColumns = `a.id, a.project_id as "projectId", a.name, a.description, a.enabled,
	a.trigger_type as "triggerType", a.event_name as "eventName", a.schedule, a.timezone,
	a.segment_id as "segmentId", a.allow_reentry as "allowReentry",
	a.current_version as "currentVersion", a.created_at as "createdAt", a.updated_at as "updatedAt"`

const listedAutomationColumns = {
	...automationRecordColumns,
	_count: json<{ steps: number; executions: number; active: number }>(),
}
export type ListedAutomation = RowOf<typeof listedAutomationColumns>

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

const matching = `a.project_id = $projectId and ($pattern::text is null or a.name ilike $pattern
	or a.description ilike $pattern)
	and ($enabled::bool is null or a.enabled = $enabled)`

const countAutomations = statement('count-automations', {
	params: { projectId: uuid, pattern: text.orNull, enabled: bool.orNull },
	row: { total: int },
	text: `select count(*)::int as total from automations a where ${matching}`,
})

/** Counts only the executions of automations on the page. */
const listSorted = (sort: AutomationSort, dir: 'asc' | 'desc') =>
	statement(`list-automations-${sort}-${dir}`, {
		params: {
			projectId: uuid,
			pattern: text.orNull,
			enabled: bool.orNull,
			limit: int,
			offset: bigint,
		},
		row: listedAutomationColumns,
		text: `select ${automationColumns}, json_build_object(
			'steps', (select count(*) from automation_steps s
				where s.project_id = $projectId and s.automation_id = a.id),
			'executions', (select count(*) from executions e
				where e.project_id = $projectId and e.automation_id = a.id),
			'active', (select count(*) from executions e
				where e.project_id = $projectId and e.automation_id = a.id
					and e.status in ('RUNNING', 'WAITING'))) as "_count"
		from (
			select * from automations a where ${matching}
			order by a.${automationSorts[sort]} ${dir}, a.id ${dir}
				limit $limit::int offset $offset::bigint
		) a
		order by a.${automationSorts[sort]} ${dir}, a.id ${dir}`,
	})

const sorts = Object.keys(automationSorts) as AutomationSort[]
const listBy = Object.fromEntries(
	sorts.flatMap((sort) =>
		(['asc', 'desc'] as const).map((dir) => [`${sort} ${dir}`, listSorted(sort, dir)]),
	),
)

export async function listAutomations(pool: Pool, projectId: string, filter: AutomationFilter) {
	const { search, enabled = null, sort, dir, limit, offset } = filter
	const values = { projectId, pattern: search ? containing(search) : null, enabled }
	const [rows, [counted]] = await Promise.all([
		listBy[`${sort} ${dir}`]!(pool, { ...values, limit, offset }),
		countAutomations(pool, values),
	])
	return { rows, total: counted!.total }
}
