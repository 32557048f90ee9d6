import type { EntityManager } from '@mikro-orm/postgresql'
import { uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { type Changes, type NewRow, now, type Row, tables } from '../tables.ts'
import type { AutomationKey } from './automation-schedules.ts'

export type AutomationRecord = Row<'automations'>

const selectAutomation = (em: EntityManager, { projectId, automationId }: AutomationKey) =>
	tables(em)
		.selectFrom('automations')
		.selectAll()
		.where('projectId', '=', projectId)
		.where('id', '=', automationId)

export const findAutomation = (em: EntityManager, key: AutomationKey) =>
	selectAutomation(em, key).executeTakeFirst()

/**
 * The same, and locks the automation, its steps and its transitions until the transaction ends. New
 * executions may start meanwhile.
 */
export const lockAutomation = (em: EntityManager, key: AutomationKey) =>
	selectAutomation(em, key).forNoKeyUpdate().executeTakeFirst()

/** The same, but no execution can start either. */
export const lockAutomationToDelete = (em: EntityManager, key: AutomationKey) =>
	selectAutomation(em, key).forUpdate().executeTakeFirst()

export const insertAutomation = (em: EntityManager, values: NewRow<'automations'>) =>
	tables(em).insertInto('automations').values(values).returningAll().executeTakeFirstOrThrow()

/** Without `changes` when only its steps or transitions have changed. */
export const updateAutomation = (
	em: EntityManager,
	{ projectId, automationId }: AutomationKey,
	changes: Changes<'automations'> = {},
) =>
	tables(em)
		.updateTable('automations')
		.set({ ...changes, updatedAt: now })
		.where('projectId', '=', projectId)
		.where('id', '=', automationId)
		.execute()

/** It disappears at once for readers. Its executions, of which there may be a million, are deleted later. */
export const deleteAutomation = statement('delete-automation', {
	params: { projectId: uuid, automationId: uuid },
	text: `with gone as (
		delete from automations where project_id = $projectId and id = $automationId::uuid
			returning project_id, id
	)
	insert into removed_automations (project_id, id) select project_id, id from gone`,
})
