import { defineEntity, p } from '@mikro-orm/core'
import { createdAt, id, projectId, updatedAt } from '../columns.ts'

/** What kind of mail it is: it decides who may get it and what is added to it. */
export const mailTypes = ['TRANSACTIONAL', 'MARKETING', 'HEADLESS'] as const

const schema = defineEntity({
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
		/** What it is written in; null: the project's. */
		language: p.text().nullable(),
		createdAt: createdAt(),
		updatedAt: updatedAt(),
	},
})

export class Template extends schema.class {}
schema.setClass(Template)
