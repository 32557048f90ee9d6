import { statement } from '../statement.ts'

/** How many executions of an automation are still on their way. $1 project, $2 automation */
export const countActive = statement<{ active: number }>(
	'count-active-executions',
	`select count(*)::int as active from executions
	where project_id = $1 and automation_id = $2::uuid and status in ('RUNNING', 'WAITING')`,
)

/** The same for each step that has any, whatever their version. $1 project, $2 automation */
export const countActiveAtSteps = statement<{ stepId: string; active: number }>(
	'count-active-executions-at-steps',
	`select current_step_id as "stepId", count(*)::int as active from executions
	where project_id = $1 and automation_id = $2::uuid and status in ('RUNNING', 'WAITING')
		and current_step_id is not null
	group by current_step_id`,
)

/**
 * The steps that something may be needed for: as they are edited, and as executions that are still on
 * their way have them in their version. $1 project
 */
export const stepsInForce = `(
	select automation_id, id, name, type, config, template_id, 0 as age
	from automation_steps where project_id = $1
	union all
	select v.automation_id, s.id, s.name, s.type, s.config, s."templateId", 1
	from (
		select distinct automation_id, version from executions
		where project_id = $1 and status in ('RUNNING', 'WAITING')
	) running
	join automation_versions v on v.project_id = $1 and v.automation_id = running.automation_id
		and v.version = running.version
	cross join jsonb_to_recordset(v.definition -> 'steps') as s (id uuid, name text, type text,
		config jsonb, "templateId" uuid)
)`

/** The automations of which one of these steps, or the trigger, is so, as JSON. $1 project */
export const automationsWhere = (trigger: string, step: string) => `(
	select coalesce(json_agg(json_build_object('id', a.id, 'name', a.name) order by a.name, a.id), '[]')
	from automations a where a.project_id = $1 and (${trigger} or a.id in (
		select s.automation_id from ${stepsInForce} s where ${step})))`
