import type { EntityManager } from '@mikro-orm/postgresql'
import { uuid } from '../sql-types.ts'
import { statement } from '../statement.ts'
import { tables } from '../tables.ts'
import type { AutomationKey } from './automation-schedules.ts'

const selectVersions = (em: EntityManager, { projectId, automationId }: AutomationKey) =>
	tables(em)
		.selectFrom('automation_versions')
		.where('projectId', '=', projectId)
		.where('automationId', '=', automationId)

/** The list is one answer. */
export const mostVersions = 10_000

/** Newest first. */
export const listVersions = (em: EntityManager, key: AutomationKey) =>
	selectVersions(em, key)
		.select(['version', 'createdAt', 'hash'])
		.orderBy('version', 'desc')
		.limit(mostVersions)
		.execute()

export const findVersion = (em: EntityManager, key: AutomationKey, version: number) =>
	selectVersions(em, key).selectAll().where('version', '=', version).executeTakeFirst()

/** The templates that still exist. */
export const existingTemplates = statement('existing-templates', {
	params: { projectId: uuid, templateIds: uuid.array },
	row: { id: uuid },
	text: `select id from templates where project_id = $projectId
		and id = any($templateIds::uuid[]) for key share`,
})
