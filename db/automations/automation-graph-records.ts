import type { EntityManager } from '@mikro-orm/postgresql'
import { float, int, json, type RowOf, text, timestamp, uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { type Changes, type NewRow, now, type Row, tables } from '../tables.ts'
import type { StepType } from './automation-definition.ts'
import type { AutomationKey } from './automation-schedules.ts'

// An automation's steps and transitions in their edited state. Every writer holds the lock on the
// automation's row.

export type StepRecord = Omit<Row<'automation_steps'>, 'projectId'>
export type TransitionRecord = Omit<Row<'automation_transitions'>, 'projectId' | 'automationId'>

export type DetailedStep = RowOf<typeof stepsOf>

/** In order of creation. */
export const stepsOf = statement('automation-steps', {
	params: { projectId: uuid, automationId: uuid },
	row: {
		id: uuid,
		automationId: uuid,
		type: text.of<StepType>(),
		name: text,
		x: float,
		y: float,
		config: json<Record<string, unknown>>(),
		templateId: uuid.orNull,
		createdAt: timestamp,
		updatedAt: timestamp,
		template: json<{ id: string; name: string }>().orNull,
	},
	text: `select s.id, s.automation_id as "automationId", s.type, s.name, s.x, s.y, s.config,
		s.template_id as "templateId", s.created_at as "createdAt", s.updated_at as "updatedAt",
		case when p.id is not null then json_build_object('id', p.id, 'name', p.name) end as template
	from automation_steps s
	left join templates p on p.project_id = s.project_id and p.id = s.template_id
	where s.project_id = $projectId and s.automation_id = $automationId::uuid
		order by s.created_at, s.id`,
})

export const transitionsOf = statement('automation-transitions', {
	params: { projectId: uuid, automationId: uuid },
	row: {
		id: uuid,
		fromStepId: uuid,
		toStepId: uuid,
		branch: text.orNull,
		priority: int,
		createdAt: timestamp,
		updatedAt: timestamp,
	},
	text: `select t.id, t.from_step_id as "fromStepId", t.to_step_id as "toStepId", t.branch, t.priority,
		t.created_at as "createdAt", t.updated_at as "updatedAt"
	from automation_transitions t
	where t.project_id = $projectId and t.automation_id = $automationId::uuid
	order by t.priority, t.created_at, t.id`,
})

export const graphSize = statement('automation-graph-size', {
	params: { projectId: uuid, automationId: uuid },
	row: { steps: int, transitions: int, configBytes: int },
	text: `select count(*)::int as steps, coalesce(sum(octet_length(config::text)), 0)::int as "configBytes",
		(select count(*)::int from automation_transitions
			where project_id = $projectId and automation_id = $automationId::uuid) as transitions
	from automation_steps where project_id = $projectId and automation_id = $automationId::uuid`,
})

export interface StepKey extends AutomationKey {
	stepId: string
}

export const findStep = (em: EntityManager, { projectId, automationId, stepId }: StepKey) =>
	tables(em)
		.selectFrom('automation_steps')
		.selectAll()
		.where('projectId', '=', projectId)
		.where('automationId', '=', automationId)
		.where('id', '=', stepId)
		.executeTakeFirst()

export const insertStep = (em: EntityManager, values: NewRow<'automation_steps'>) =>
	tables(em).insertInto('automation_steps').values(values).returningAll().executeTakeFirstOrThrow()

export const updateStep = (
	em: EntityManager,
	{ projectId, automationId, stepId }: StepKey,
	changes: Changes<'automation_steps'>,
) =>
	tables(em)
		.updateTable('automation_steps')
		.set({ ...changes, updatedAt: now })
		.where('projectId', '=', projectId)
		.where('automationId', '=', automationId)
		.where('id', '=', stepId)
		.returningAll()
		.executeTakeFirstOrThrow()

/** Also deletes the step's transitions. */
export const deleteStep = (em: EntityManager, { projectId, automationId, stepId }: StepKey) =>
	tables(em)
		.deleteFrom('automation_steps')
		.where('projectId', '=', projectId)
		.where('automationId', '=', automationId)
		.where('id', '=', stepId)
		.execute()

export const insertTransition = (em: EntityManager, values: NewRow<'automation_transitions'>) =>
	tables(em)
		.insertInto('automation_transitions')
		.values(values)
		.returningAll()
		.executeTakeFirstOrThrow()

/** Returns undefined if there is no such transition. */
export const deleteTransition = (
	em: EntityManager,
	{ projectId, automationId, transitionId }: AutomationKey & { transitionId: string },
) =>
	tables(em)
		.deleteFrom('automation_transitions')
		.where('projectId', '=', projectId)
		.where('automationId', '=', automationId)
		.where('id', '=', transitionId)
		.returning('id')
		.executeTakeFirst()

/** Transitions to one step now lead to another, but never from a step to itself. */
export const redirectTransitions = statement('redirect-automation-transitions', {
	params: { projectId: uuid, automationId: uuid, fromStepId: uuid, toStepId: uuid },
	text: `update automation_transitions set to_step_id = $toStepId::uuid, updated_at = now()
	where project_id = $projectId and automation_id = $automationId::uuid
		and to_step_id = $fromStepId::uuid
		and from_step_id <> $toStepId::uuid`,
})

export const deleteGraph = statement('delete-automation-graph', {
	params: { projectId: uuid, automationId: uuid },
	text: `delete from automation_steps where project_id = $projectId
		and automation_id = $automationId::uuid`,
})

/** The copies get new ids and keep the order. */
export const copyGraph = statement('copy-automation-graph', {
	params: { projectId: uuid, fromAutomationId: uuid, toAutomationId: uuid },
	text: `with steps as materialized (
		select s.*, uuidv7() as copy_id from automation_steps s
		where s.project_id = $projectId and s.automation_id = $fromAutomationId::uuid
			order by s.created_at, s.id
	), copied as (
		insert into automation_steps (project_id, automation_id, id, type, name, x, y, config, template_id)
		select project_id, $toAutomationId::uuid, copy_id, type, name, x, y, config, template_id
			from steps
	)
	insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id, branch,
		priority)
	select t.project_id, $toAutomationId::uuid, f.copy_id, o.copy_id, t.branch, t.priority
	from automation_transitions t
	join steps f on f.id = t.from_step_id
	join steps o on o.id = t.to_step_id
	where t.project_id = $projectId and t.automation_id = $fromAutomationId::uuid`,
})

/** Restores a version's graph. Steps keep their ids. */
export const restoreGraph = statement('restore-automation-graph', {
	params: {
		projectId: uuid,
		automationId: uuid,
		steps: json<object[]>(),
		transitions: json<object[]>(),
	},
	text: `with steps as (
		insert into automation_steps (project_id, automation_id, id, type, name, x, y, config, template_id)
		select $projectId, $automationId::uuid, s.id, s.type, s.name, s.x, s.y, s.config, s."templateId"
		from jsonb_to_recordset($steps::jsonb) as s (id uuid, type text, name text, x float8, y float8,
			config jsonb, "templateId" uuid)
	)
	insert into automation_transitions (project_id, automation_id, from_step_id, to_step_id, branch,
		priority)
	select $projectId, $automationId::uuid, t."fromStepId", t."toStepId", t.branch, t.priority
	from jsonb_to_recordset($transitions::jsonb) as t ("fromStepId" uuid, "toStepId" uuid, branch text,
		priority int)`,
})

/** Steps with known ids change and keep their age; the others are added. Those left out are deleted with their transitions. */
export const replaceSteps = statement('replace-automation-steps', {
	params: { projectId: uuid, automationId: uuid, steps: json<object[]>() },
	text: `with given as materialized (
		select * from jsonb_to_recordset($steps::jsonb) as s (id uuid, type text, name text, x float8, y float8,
			config jsonb, "templateId" uuid)
	), gone as (
		delete from automation_steps where project_id = $projectId and automation_id = $automationId::uuid
			and id not in (select id from given)
	)
	insert into automation_steps as s (project_id, automation_id, id, type, name, x, y, config, template_id)
	select $projectId, $automationId::uuid, id, type, name, x, y, config, "templateId" from given
	on conflict (project_id, automation_id, id) do update set name = excluded.name, x = excluded.x,
		y = excluded.y, config = excluded.config, template_id = excluded.template_id, updated_at = now()
	where (s.name, s.x, s.y, s.config, s.template_id) is distinct from
		(excluded.name, excluded.x, excluded.y, excluded.config, excluded.template_id)`,
})

/** Each branch of a step has at most one transition, which is changed to lead to another step. Those left out are deleted. */
export const replaceTransitions = statement('replace-automation-transitions', {
	params: { projectId: uuid, automationId: uuid, transitions: json<object[]>() },
	text: `with given as materialized (
		select * from jsonb_to_recordset($transitions::jsonb) as t ("fromStepId" uuid, "toStepId" uuid,
			branch text, priority int)
	), gone as (
		delete from automation_transitions t where t.project_id = $projectId
			and t.automation_id = $automationId::uuid and not exists (select from given g
				where g."fromStepId" = t.from_step_id and g.branch is not distinct from t.branch)
	)
	insert into automation_transitions as t (project_id, automation_id, from_step_id, to_step_id, branch,
		priority)
	select $projectId, $automationId::uuid, "fromStepId", "toStepId", branch, priority from given
	on conflict on constraint automation_transitions_branch do update
		set to_step_id = excluded.to_step_id, priority = excluded.priority, updated_at = now()
	where (t.to_step_id, t.priority) is distinct from (excluded.to_step_id, excluded.priority)`,
})
