import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'
import { reference } from '../reference.ts'

/** The type of a mail decides who may receive it and what is added to it. */
export const mailTypes = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const

export const templateSchema = defineEntity({
	name: 'Template',
	tableName: 'templates',
	uniques: [{ properties: ['projectId', 'id'] }],
	properties: {
		id: id(),
		projectId: projectId(),
		name: p.text(),
		description: p.text().nullable(),
		subject: p.text(),
		body: p.text(),
		from: p.text(),
		fromName: p.text().nullable(),
		replyTo: p.text().nullable(),
		type: p.enum(mailTypes).default('MARKETING'),
		/** The language of its text; null: the project's. */
		language: p.text().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Template extends templateSchema.class {
	static references = [reference(['projectId'], 'projects', 'cascade')]
}
templateSchema.setClass(Template)
