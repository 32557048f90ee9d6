import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { containing } from '../../db/like.ts'
import { mailTypes, Template as TemplateRow } from '../../db/templates/template.ts'
import { page } from '../schemas.ts'
import { Template, viewOfTemplate } from './templates.ts'

export const templateList: FastifyPluginAsyncTypebox = async (app) => {
	app.get(
		'/templates',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['templates'],
				summary: 'List templates',
				querystring: Type.Object({
					page: Type.Integer({ minimum: 1, maximum: 2 ** 31, default: 1 }),
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					type: Type.Optional(Type.Enum([...mailTypes])),
					search: Type.Optional(
						Type.String({ description: 'Part of name, description or subject' }),
					),
					sort: Type.Enum(['name', 'createdAt', 'updatedAt'], { default: 'createdAt' }),
					dir: Type.Enum(['asc', 'desc'], { default: 'desc' }),
				}),
				response: { 200: page(Template) },
			},
		},
		async ({ em, project, query }) => {
			const pageSize = Math.min(query.pageSize, 100)
			const matching = { $ilike: containing(query.search ?? '') }
			const [data, total] = await em.findAndCount(
				TemplateRow,
				{
					projectId: project.id,
					...(query.type ? { type: query.type } : {}),
					...(query.search
						? { $or: [{ name: matching }, { description: matching }, { subject: matching }] }
						: {}),
				},
				{
					orderBy: [{ [query.sort]: query.dir }, { id: query.dir }],
					limit: pageSize,
					offset: (query.page - 1) * pageSize,
				},
			)
			const totalPages = Math.ceil(total / pageSize)
			return { data: data.map(viewOfTemplate), page: query.page, pageSize, total, totalPages }
		},
	)
}
