import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import { perform } from '../../mail/rendering.ts'
import {
	deleteTemplate,
	findTemplate,
	insertTemplate,
	lockTemplate,
	type TemplateRecord,
	updateTemplate,
} from '../../db/templates/template-records.ts'
import { campaignsFrom, stepsSending } from '../../db/templates/template-usage.ts'
import { mailTypes } from '../../db/templates/template.ts'
import { transactional } from '../../db/transaction.ts'
import { ApiError, invalid, notFound } from '../errors.ts'
import {
	about,
	Component,
	ContentLanguage,
	Email,
	Id,
	Line,
	Name,
	normalizeEmail,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { refuseChanged } from '../requests/read-version.ts'
import { requireSender, Sender, withSender } from '../send/sender.ts'

export const Template = Component('Template', {
	id: Id,
	name: Type.String(),
	description: Nullable(Type.String()),
	subject: Type.String(),
	body: Type.String(),
	from: Type.String(),
	fromName: Nullable(Type.String()),
	replyTo: Nullable(Type.String()),
	type: Type.Enum([...mailTypes]),
	language: Nullable(Type.String()),
	projectId: Id,
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const required = {
	name: Name,
	subject: about('A Liquid template.', Line({ minLength: 1, maxLength: 998 })),
	body: Type.String({ minLength: 1, description: 'HTML, a Liquid template' }),
	from: about('The sender. Its domain must be verified.', Sender),
}
const optional = {
	description: Type.Optional(
		about(
			'A note of your own. Recipients never see it.',
			Nullable(Type.String({ maxLength: 500 })),
		),
	),
	fromName: Type.Optional(about('The name of the sender.', Nullable(Line({ maxLength: 100 })))),
	replyTo: Type.Optional(about('The address for replies.', Nullable(Email))),
	type: Type.Optional(
		about(
			'MARKETING is sent only to contacts who have subscribed, with a footer to unsubscribe. HEADLESS has no footer, and /v1/send sends it to everybody. TRANSACTIONAL is sent to everybody. A new template is MARKETING unless you set it.',
			Type.Enum([...mailTypes]),
		),
	),
	language: ContentLanguage,
}
const example = {
	name: 'Welcome',
	subject: 'Hello {{ name }}',
	body: '<p>Good to see you</p>',
	from: 'hello@example.com',
	type: 'TRANSACTIONAL',
}

const tags = ['templates']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('template') })

export const templates: FastifyPluginAsyncTypebox = async (app) => {
	app.post(
		'/templates',
		{
			config: {
				auth,
				simpleErrors: {
					name: ['required', 'invalid_type'],
					subject: ['required', 'invalid_type'],
					body: ['required', 'invalid_type'],
					from: ['required', 'invalid_type', 'invalid_union'],
				},
			},
			schema: {
				tags,
				summary: 'Create a template',
				description:
					'A new template is MARKETING unless you set its type, and /v1/send refuses MARKETING mail to contacts who have not subscribed.',
				body: Type.Object({ ...required, ...optional }, { examples: [example] }),
				response: { 201: Template },
			},
		},
		async ({ em, project, body: given }, reply) => {
			const body = withSender(given)
			await checkSyntax(project.id, body)
			await requireSender(em, project.id, body.from)
			const template = await insertTemplate(em, { projectId: project.id, ...columnsOf(body) })
			return reply.code(201).send(template)
		},
	)

	app.get(
		'/templates/:id',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Get a template',
				description:
					'Returns the template as it is stored, with its placeholders. POST /templates/{id}/preview renders it.',
				params: Params,
				response: { 200: Template },
			},
		},
		async ({ em, project, params }) => foundTemplate(em, project.id, params.id),
	)

	app.patch(
		'/templates/:id',
		{
			config: { auth, errors: [409], ifMatch: true },
			schema: {
				tags,
				summary: 'Change a template',
				description:
					'Members that you leave out stay as they are. Mails that have been sent keep their content. With the header `If-Match: "<updatedAt>"`, a template that has changed since is refused (409).',
				params: Params,
				body: Type.Partial(Type.Object({ ...required, ...optional }), {
					examples: [{ subject: 'Welcome, {{ name }}' }],
				}),
				response: { 200: Template },
			},
		},
		async (request) => {
			const { em, project, params, body: given } = request
			const body = withSender(given)
			await checkSyntax(project.id, body)
			await foundTemplate(em, project.id, params.id)
			if (body.from !== undefined) await requireSender(em, project.id, body.from)
			const key = { projectId: project.id, templateId: params.id }
			return transactional(em, async (em) => {
				refuseChanged(request, 'template', existing(await lockTemplate(em, key), params.id))
				return existing(await updateTemplate(em, key, columnsOf(body)), params.id)
			})
		},
	)

	app.delete(
		'/templates/:id',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Delete a template',
				description: 'Refused with 409 while a workflow or an unsent campaign uses it.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ em, project, params }, reply) => {
			const key = { projectId: project.id, templateId: params.id }
			await transactional(em, async (em, db) => {
				existing(await lockTemplate(em, key), params.id)
				const campaigns = (await campaignsFrom(db, key)).filter(({ status }) => isOpen(status))
				const workflowSteps = await stepsSending(db, key)
				if (campaigns.length + workflowSteps.length > 0) throw inUse({ campaigns, workflowSteps })
				await deleteTemplate(em, key)
			})
			return reply.code(204).send(null)
		},
	)
}

/** A campaign that has ended has its own copy of the content, and no longer needs its template. */
const isOpen = (status: string) => ['DRAFT', 'SCHEDULED', 'SENDING'].includes(status)

const inUse = (usedBy: object) =>
	new ApiError(409, 'CONFLICT', 'This template is in use', {
		details: { usedBy },
		suggestion: 'Change the uses named in details first.',
	})

export const foundTemplate = async (em: EntityManager, projectId: string, id: string) =>
	existing(await findTemplate(em, { projectId, templateId: id }), id)

function existing(template: TemplateRecord | undefined, id: string) {
	if (!template) throw notFound('template', id)
	return template
}

export async function checkSyntax(
	projectId: string,
	{ subject, body, text }: { subject?: string; body?: string; text?: string | null },
) {
	const problems = await perform(projectId, 'problems', [
		{ value: subject, kind: 'subject', field: 'subject' },
		{ value: body, kind: 'body', field: 'body' },
		// Like a subject, a text is not escaped.
		{ value: text, kind: 'subject', field: 'text' },
	])
	if (problems.length > 0) throw invalid(...problems)
}

/** Open bodies may have other members; only columns are used. */
function columnsOf<
	T extends Partial<Record<keyof typeof required | keyof typeof optional, unknown>>,
>(body: T & { from?: string; replyTo?: string | null }) {
	const { name, description, subject, body: html, from, fromName, replyTo, type, language } = body
	const given = {
		name,
		description,
		subject,
		body: html,
		from: from && normalizeEmail(from),
		fromName,
		replyTo: replyTo && normalizeEmail(replyTo),
		type,
		language,
	}
	return given as Pick<TemplateRecord, keyof T & keyof typeof given>
}
