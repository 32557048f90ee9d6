import { statement } from '../statement.ts'
import type { StepType } from './automation-definition.ts'

// The steps and transitions of an automation as they are edited. Whoever writes here holds the lock of
// the automation's row.

export interface StepRecord {
	id: string
	automationId: string
	type: StepType
	name: string
	position: { x: number; y: number }
	config: Record<string, unknown>
	templateId: string | null
	createdAt: Date
	updatedAt: Date
}

export interface DetailedStep extends StepRecord {
	template: { id: string; name: string } | null
}

export interface TransitionRecord {
	id: string
	fromStepId: string
	toStepId: string
	branch: string | null
	priority: number
	createdAt: Date
	updatedAt: Date
}

const stepColumns = `s.id, s.automation_id as "automationId", s.type, s.name,
	json_build_object('x', s.x, 'y', s.y) as position, s.config, s.template_id as "templateId",
	s.created_at as "createdAt", s.updated_at as "updatedAt"`

const transitionColumns = `t.id, t.from_step_id as "fromStepId", t.to_step_id as "toStepId", t.branch,
	t.priority, t.created_at as "createdAt", t.updated_at as "updatedAt"`

/** In the order in which they were added. $1 project, $2 automation */
export const stepsOf = statement<DetailedStep>(
	'automation-steps',
	`select ${stepColumns},
		case when p.id is not null then json_build_object('id', p.id, 'name', p.name) end as template
	from automation_steps s
	left join templates p on p.project_id = s.project_id and p.id = s.template_id
	where s.project_id = $1 and s.automation_id = $2::uuid order by s.created_at, s.id`,
)

/** $1 project, $2 automation */
export const transitionsOf = statement<TransitionRecord>(
	'automation-transitions',
	`select ${transitionColumns} from automation_transitions t
	where t.project_id = $1 and t.automation_id = $2::uuid
	order by t.priority, t.created_at, t.id`,
)

/** $1 project, $2 automation */
export const graphSize = statement<{ steps: number; transitions: number; configBytes: number }>(
	'automation-graph-size',
	`select count(*)::int as steps, coalesce(sum(octet_length(config::text)), 0)::int as "configBytes",
		(select count(*)::int from automation_transitions
			where project_id = $1 and automation_id = $2::uuid) as transitions
	from automation_steps where project_id = $1 and automation_id = $2::uuid`,
)

/** $1 project, $2 automation, $3 id */
export const findStep = statement<StepRecord>(
	'find-automation-step',
	`select ${stepColumns} from automation_steps s
	where s.project_id = $1 and s.automation_id = $2::uuid and s.id = $3::uuid`,
)

/** $1 project, $2 automation, $3 type, $4 name, $5 x, $6 y, $7 configuration, $8 template */
export const insertStep = statement<StepRecord>(
	'insert-automation-step',
	`insert into automation_steps as s (project_id, automation_id, type, name, x, y, config, template_id)
	values ($1, $2::uuid, $3::text, $4::text, $5::float8, $6::float8, $7::jsonb, $8::uuid)
	returning ${stepColumns}`,
)

/** $1 project, $2 automation, $3 id, $4 name, $5 x, $6 y, $7 configuration, $8 template */
export const updateStep = statement<StepRecord>(
	'update-automation-step',
	`update automation_steps s set name = $4::text, x = $5::float8, y = $6::float8,
		config = $7::jsonb, template_id = $8::uuid, updated_at = now()
	where s.project_id = $1 and s.automation_id = $2::uuid and s.id = $3::uuid
	returning ${stepColumns}`,
)

/** Its transitions go with it. $1 project, $2 automation, $3 id */
export const deleteStep = statement(
	'delete-automation-step',
	`delete from automation_steps
	where project_id = $1 and automation_id = $2::uuid and id = $3::uuid`,
)

/** $1 project, $2 automation, $3 from, $4 to, $5 branch, $6 priority */
export const insertTransition = statement<TransitionRecord>(
	'insert-automation-transition',
	`insert into automation_transitions as t (project_id, automation_id, from_step_id, to_step_id,
		branch, priority)
	values ($1, $2::uuid, $3::uuid, $4::uuid, $5::text, $6::int)
	returning ${transitionColumns}`,
)

/** What led to one step leads to another; never to itself. $1 project, $2 automation, $3 from, $4 to */
export const redirectTransitions = statement(
	'redirect-automation-transitions',
	`update automation_transitions set to_step_id = $4::uuid, updated_at = now()
	where project_id = $1 and automation_id = $2::uuid and to_step_id = $3::uuid
		and from_step_id <> $4::uuid`,
)

/** $1 project, $2 automation, $3 id */
export const deleteTransition = statement<{ id: string }>(
	'delete-automation-transition',
	`delete from automation_transitions
	where project_id = $1 and automation_id = $2::uuid and id = $3::uuid returning id`,
)

/** $1 project, $2 automation */
export const deleteGraph = statement(
	'delete-automation-graph',
	`delete from automation_steps where project_id = $1 and automation_id = $2::uuid`,
)

/** The copies have ids of their own, and the same order. $1 project, $2 from, $3 to */
export const copyGraph = statement(
	'copy-automation-graph',
	`with steps as materialized (
		select s.*, uuidv7() as copy_id from automation_steps s
		where s.project_id = $1 and s.automation_id = $2::uuid order by s.created_at, s.id
	), copied as (
		insert into automation_steps (project_id, automation_id, id, type, name, x, y, config, template_id)
		select project_id, $3::uuid, copy_id, type, name, x, y, config, template_id from steps
	)
	insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id, branch,
		priority)
	select t.project_id, $3::uuid, f.copy_id, o.copy_id, t.branch, t.priority
	from automation_transitions t
	join steps f on f.id = t.from_step_id
	join steps o on o.id = t.to_step_id
	where t.project_id = $1 and t.automation_id = $2::uuid`,
)

/**
 * Writes a version's graph back. Steps keep the ids they had. $1 project, $2 automation,
 * $3 steps as JSON, $4 transitions as JSON
 */
export const restoreGraph = statement(
	'restore-automation-graph',
	`with steps as (
		insert into automation_steps (project_id, automation_id, id, type, name, x, y, config, template_id)
		select $1, $2::uuid, s.id, s.type, s.name, s.x, s.y, s.config, s."templateId"
		from jsonb_to_recordset($3::jsonb) as s (id uuid, type text, name text, x float8, y float8,
			config jsonb, "templateId" uuid)
	)
	insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id, branch,
		priority)
	select $1, $2::uuid, t."fromStepId", t."toStepId", t.branch, t.priority
	from jsonb_to_recordset($4::jsonb) as t ("fromStepId" uuid, "toStepId" uuid, branch text,
		priority int)`,
)
