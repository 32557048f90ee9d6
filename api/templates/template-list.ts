import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { containing } from '../../db/like.ts'
import { countTemplates, listTemplates, templatesOfPage } from '../../db/templates/template-list.ts'
import { mailTypes } from '../../db/templates/template.ts'
import type { SendPage } from '../requests/large-pages.ts'
import { about, Direction, page, PageNumber } from '../schemas.ts'
import { Template } from './templates.ts'

interface Options {
	pool: Pool
	sendPage: SendPage
}

export const templateList: FastifyPluginAsyncTypebox<Options> = async (app, { pool, sendPage }) => {
	app.get(
		'/templates',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['templates'],
				summary: 'List templates',
				description: 'Includes the bodies. A page size over 100 counts as 100.',
				querystring: Type.Object({
					page: PageNumber,
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					type: Type.Optional(about('Only templates of this type.', Type.Enum([...mailTypes]))),
					search: Type.Optional(
						Type.String({ description: 'Part of name, description or subject' }),
					),
					sort: Type.Enum(['name', 'createdAt', 'updatedAt'], {
						default: 'createdAt',
						description: 'What the list is sorted by.',
					}),
					dir: Direction,
				}),
				response: { 200: page(Template) },
			},
		},
		async ({ project, query }, reply) => {
			const pageSize = Math.min(query.pageSize, 100)
			const search = query.search ? containing(query.search) : null
			const wanted = { projectId: project.id, type: query.type ?? null, pattern: search }
			const offset = (query.page - 1) * pageSize
			const [listed, [counted]] = await Promise.all([
				listTemplates[query.sort][query.dir](pool, { ...wanted, limit: pageSize, offset }),
				countTemplates(pool, wanted),
			])
			const { total } = counted!
			const totalPages = Math.ceil(total / pageSize)
			return sendPage(reply, {
				listed,
				read: (ids) => templatesOfPage(pool, { projectId: project.id, templateIds: ids }),
				answer: (rows) => ({
					data: rows.map((row) => ({ ...row, projectId: project.publicId })),
					page: query.page,
					pageSize,
					total,
					totalPages,
				}),
			})
		},
	)
}
