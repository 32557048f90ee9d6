import type { EntityManager } from '@mikro-orm/postgresql'
import { type Changes, type NewRow, now, type Row, tables } from '../tables.ts'

export type TemplateRecord = Row<'templates'>

export interface TemplateKey {
	projectId: string
	templateId: string
}

const selectTemplate = (em: EntityManager, { projectId, templateId }: TemplateKey) =>
	tables(em)
		.selectFrom('templates')
		.selectAll()
		.where('projectId', '=', projectId)
		.where('id', '=', templateId)

export const findTemplate = (em: EntityManager, key: TemplateKey) =>
	selectTemplate(em, key).executeTakeFirst()

/** The same. Until the transaction ends, nothing new can refer to the template. */
export const lockTemplate = (em: EntityManager, key: TemplateKey) =>
	selectTemplate(em, key).forUpdate().executeTakeFirst()

export const insertTemplate = (em: EntityManager, values: NewRow<'templates'>) =>
	tables(em).insertInto('templates').values(values).returningAll().executeTakeFirstOrThrow()

/** Returns undefined if there is no such template. */
export const updateTemplate = (
	em: EntityManager,
	{ projectId, templateId }: TemplateKey,
	changes: Changes<'templates'>,
) =>
	tables(em)
		.updateTable('templates')
		.set({ ...changes, updatedAt: now })
		.where('projectId', '=', projectId)
		.where('id', '=', templateId)
		.returningAll()
		.executeTakeFirst()

export const deleteTemplate = (em: EntityManager, { projectId, templateId }: TemplateKey) =>
	tables(em)
		.deleteFrom('templates')
		.where('projectId', '=', projectId)
		.where('id', '=', templateId)
		.execute()
