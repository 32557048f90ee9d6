import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	type AutomationSort,
	automationSorts,
	listAutomations,
} from '../../db/automations/automation-list.ts'
import { Direction, Extended, page, PageNumber } from '../schemas.ts'
import { Automation, viewOfAutomation } from './automation-views.ts'

const ListedAutomation = Extended('ListedWorkflow', [Automation], {
	_count: Type.Object({
		steps: Type.Integer(),
		executions: Type.Integer(),
		active: Type.Integer({ description: 'Executions that have not ended.' }),
	}),
})

const tags = ['workflows']
const auth = 'secret key or session'

export const automationList: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/workflows',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'List workflows',
				description:
					'Without steps and transitions: GET /workflows/{id} includes them. A page size over 100 counts as 100.',
				querystring: Type.Object({
					page: PageNumber,
					pageSize: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					search: Type.Optional(Type.String({ description: 'Part of name or description' })),
					status: Type.Optional(
						Type.Enum(['active', 'disabled'], {
							description: 'Only workflows that are enabled, or only those that are not.',
						}),
					),
					sort: Type.Enum(Object.keys(automationSorts) as AutomationSort[], {
						default: 'createdAt',
						description: 'What the list is sorted by.',
					}),
					dir: Direction,
				}),
				response: { 200: page(ListedAutomation) },
			},
		},
		async ({ project, query: { page, search, status, sort, dir, ...query } }) => {
			const pageSize = Math.min(query.pageSize, 100)
			const { rows, total } = await listAutomations(pool, project.id, {
				...(search ? { search } : {}),
				...(status ? { enabled: status === 'active' } : {}),
				sort,
				dir,
				limit: pageSize,
				offset: (page - 1) * pageSize,
			})
			const data = rows.map((row) => ({ ...viewOfAutomation(row), _count: row._count }))
			return { data, page, pageSize, total, totalPages: Math.ceil(total / pageSize) }
		},
	)
}
