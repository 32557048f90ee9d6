import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { campaignsFrom, countSentFrom, stepsSending } from '../../db/templates/template-usage.ts'
import { insertTemplate } from '../../db/templates/template-records.ts'
import { copyName } from '../copy-name.ts'
import { about, Body, Component, Id, PathId } from '../schemas.ts'
import { Preview, previewOf } from './template-preview.ts'
import { foundTemplate, Template } from './templates.ts'

const tags = ['templates']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('template') })

const Usage = Component('TemplateUsage', {
	campaigns: Type.Array(Type.Object({ id: Id, name: Type.String(), status: Type.String() })),
	workflowSteps: Type.Array(
		Type.Object({ id: Id, name: Type.String(), workflowId: Id, workflowName: Type.String() }),
	),
	emailsSent: Type.Integer(),
})

/** Routes that use a template without changing it. */
export const templateUses: FastifyPluginAsyncTypebox<{ pool: Pool; publicUrl: string }> = async (
	app,
	{ pool, publicUrl },
) => {
	app.post(
		'/templates/:id/duplicate',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Copy a template',
				description: 'The copy has the same content and a new name.',
				params: Params,
				response: { 201: Template },
			},
		},
		async ({ em, project, params }, reply) => {
			const {
				id: _,
				createdAt: _c,
				updatedAt: _u,
				...columns
			} = await foundTemplate(em, project.id, params.id)
			const copy = await insertTemplate(em, { ...columns, name: copyName(columns.name) })
			return reply.code(201).send(copy)
		},
	)

	app.get(
		'/templates/:id/usage',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get the uses of a template',
				description:
					'Campaigns and workflow steps that refer to it. Check it before you delete a template. If counting takes more than a second, `emailsSent` has at most 10,000 mails beside those of campaigns.',
				params: Params,
				response: { 200: Usage },
			},
		},
		async ({ em, project, params }) => {
			await foundTemplate(em, project.id, params.id)
			const key = { projectId: project.id, templateId: params.id }
			const [campaigns, workflowSteps, emailsSent] = await Promise.all([
				campaignsFrom(pool, key),
				stepsSending(pool, key),
				countSentFrom(pool, key),
			])
			return { campaigns, workflowSteps, emailsSent }
		},
	)

	app.post(
		'/templates/:id/preview',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Render a template',
				description: 'Uses the data that you give, and the data of a contact if you name one.',
				params: Params,
				body: Body(
					{ data: { name: 'Ann' } },
					{
						data: Type.Optional(
							Type.Record(Type.String(), Type.Unknown(), {
								description: 'Variables of the template.',
							}),
						),
						contactId: Type.Optional(
							about('A contact whose data fills in what `data` leaves out.', Id),
						),
					},
				),
				response: { 200: Preview },
			},
		},
		async ({ em, project, params, body }) => {
			const template = await foundTemplate(em, project.id, params.id)
			return previewOf(em, project, template, body, publicUrl)
		},
	)
}
