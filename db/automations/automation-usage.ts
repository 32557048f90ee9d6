import { int, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'

/** The number of active executions of an automation. */
export const countActive = statement('count-active-executions', {
	params: { projectId: uuid, automationId: uuid },
	row: { active: int },
	text: `select count(*)::int as active from executions
	where project_id = $projectId and automation_id = $automationId::uuid
		and status in ('RUNNING', 'WAITING')`,
})

/** The same for each step that has any, in all versions. */
export const countActiveAtSteps = statement('count-active-executions-at-steps', {
	params: { projectId: uuid, automationId: uuid },
	row: { stepId: uuid.notNull('those at no step are left out'), active: int },
	text: `select current_step_id as "stepId", count(*)::int as active from executions
	where project_id = $projectId and automation_id = $automationId::uuid
		and status in ('RUNNING', 'WAITING')
		and current_step_id is not null
	group by current_step_id`,
})

/** The same for each version that has any. It counts all active executions, so it is not for pages that poll. */
export const countActiveOfVersions = statement('count-active-executions-of-versions', {
	params: { projectId: uuid, automationId: uuid },
	row: { version: int, active: int },
	text: `select version, count(*)::int as active from executions
	where project_id = $projectId and automation_id = $automationId::uuid
		and status in ('RUNNING', 'WAITING')
	group by version`,
})

/**
 * How far the newest executions have come, in all versions: how many have been at each step, how many are past it
 * and how many have failed there. Each counts once for a step, however often it was there. Steps have no counts of
 * their own, so this reads the visits: of each execution the latest hundred.
 */
export const passageOf = statement('passage-of-automation', {
	params: { projectId: uuid, automationId: uuid, executions: int },
	row: { stepId: uuid, entered: int, passed: int, failed: int },
	text: `select s.step_id as "stepId", count(*)::int as entered,
		count(*) filter (where s.has_passed)::int as passed, count(*) filter (where s.has_failed)::int as failed
	from (
		select id from executions where project_id = $projectId and automation_id = $automationId::uuid
		order by id desc limit $executions::int
	) newest cross join lateral (
		select step_id, bool_or(status = 'COMPLETED') as has_passed, bool_or(status = 'FAILED') as has_failed
		from (
			select step_id, status from execution_steps
			where project_id = $projectId and execution_id = newest.id order by visit desc limit 100
		) latest group by step_id
	) s group by 1`,
})

/** The number of executions, up to a limit. */
export const countExecutionsUpTo = statement('count-executions-up-to', {
	params: { projectId: uuid, automationId: uuid, executions: int },
	row: { count: int },
	text: `select count(*)::int as count from (
		select from executions where project_id = $projectId and automation_id = $automationId::uuid
		limit $executions::int) counted`,
})

/**
 * The steps that may still need something: those in the edited state, and those in the versions of active
 * executions.
 */
export const stepsInForce = `(
	select automation_id, id, name, type, config, template_id, 0 as age
	from automation_steps where project_id = $projectId
	union all
	select v.automation_id, s.id, s.name, s.type, s.config, s."templateId", 1
	from automation_versions v
	cross join jsonb_to_recordset(v.definition -> 'steps') as s (id uuid, name text, type text,
		config jsonb, "templateId" uuid)
	where v.project_id = $projectId and v.version = (
		-- One look into executions_in_force. With an equal version the planner may read all executions instead.
		select x.version from executions x where x.project_id = $projectId and x.automation_id = v.automation_id
			and x.version >= v.version and x.status in ('RUNNING', 'WAITING')
		order by x.version limit 1)
)`

/** The automations whose trigger or any step meets its condition, as JSON. */
export const automationsWhere = (trigger: string, step: string) => `(
	select coalesce(json_agg(json_build_object('id', a.id, 'name', a.name) order by a.name, a.id), '[]')
	from automations a where a.project_id = $projectId and (${trigger} or a.id in (
		select s.automation_id from ${stepsInForce} s where ${step})))`
