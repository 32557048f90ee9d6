import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { roles } from '../../db/projects/membership.ts'
import { newKeys } from '../../db/projects/project-keys.ts'
import {
	createProject,
	type ProjectRecord,
	projectsOfUser,
	updateProject,
} from '../../db/projects/project-records.ts'
import { deleteProject, resetProject } from '../../db/projects/project-removal.ts'
import { disabledReasons, trackingModes } from '../../db/projects/project.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { countTry } from '../accounts/throttling.ts'
import { ApiError } from '../errors.ts'
import {
	about,
	Body,
	Component,
	Id,
	Language,
	Message,
	Nullable,
	PathId,
	Timestamp,
} from '../schemas.ts'
import { administering, administeringAccount } from './administering.ts'

const Name = Type.String({
	minLength: 1,
	maxLength: 100,
	pattern: '^[^\\S\\r\\n]*\\S[^\\r\\n]*$',
	'x-message': 'must be one line, and not blank',
	description: 'The name of the project.',
})

const PostalAddress = Type.Union([Type.String({ maxLength: 500 }), Type.Null()], {
	description:
		'Shown in the footer of MARKETING mail, with its line breaks. null or an empty text removes it',
})

const ProjectView = Component('Project', {
	id: Id,
	name: Type.String(),
	public: Type.String(),
	secret: Type.String({
		description:
			'In full when it was just created, otherwise masked except for the last four characters',
	}),
	role: Type.Enum([...roles]),
	disabled: Type.Boolean(),
	disabledReason: Nullable(Type.Enum([...disabledReasons])),
	tracking: Type.Enum([...trackingModes]),
	language: Type.String(),
	postalAddress: Nullable(Type.String()),
	sendRatePerSecond: Nullable(Type.Number()),
	createdAt: Timestamp,
	updatedAt: Timestamp,
})

const tags = ['projects']
export const ProjectParams = Type.Object({ id: PathId('project') })
const config = { auth: 'session' } as const

export interface ProjectOptions {
	pool: Pool
	isMailReal: boolean
}

export const projects: FastifyPluginAsyncTypebox<ProjectOptions> = async (
	app,
	{ pool, isMailReal },
) => {
	app.get(
		'/users/@me/projects',
		{
			config: { ...config, neverKept: true },
			schema: {
				tags,
				summary: 'List the projects of the user',
				description:
					'Every project that the user is a member of, with the role in it. Secret keys are masked.',
				response: { 200: Type.Array(ProjectView) },
			},
		},
		async ({ user }) =>
			(
				await projectsOfUser(pool, {
					userId: user.id,
					undoubtedOnly: isMailReal && !user.emailVerified,
				})
			).map((p) => view(p)),
	)

	app.post(
		'/users/@me/projects',
		{
			config: { ...config, errors: [429] },
			schema: {
				tags,
				summary: 'Create a project; the only answer with its secret key in full',
				description: 'Store the secret key: later answers mask it. The user becomes the owner.',
				body: Body({ name: 'Shop' }, { name: Name }),
				response: { 201: ProjectView },
			},
		},
		async (request, reply) => {
			const { user, body } = request
			// Each project has its own limits for sending, and rows that are kept.
			await countTry(pool, { what: 'project', subject: user.id, tries: 100, seconds: 3600 })
			const { secretKey, values } = freshKeys()
			const [project] = await createProject(pool, {
				sessionId: user.sessionId,
				name: body.name,
				...values,
			})
			if (!project) throw sessionEnded()
			request.madeProjectId = project.id
			return reply.code(201).send(view(project, secretKey))
		},
	)

	app.patch(
		'/users/@me/projects/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Change name, tracking, language or postal address of a project',
				description:
					'Members that you leave out stay as they are. Tracking applies to mails that are sent from now on.',
				params: ProjectParams,
				body: Body(
					{ tracking: 'MARKETING_ONLY' },
					{
						name: Type.Optional(Name),
						tracking: Type.Optional(
							about(
								'The mails in which opens and clicks are tracked.',
								Type.Enum([...trackingModes]),
							),
						),
						language: Type.Optional(
							about('The language of unsubscribe pages and footers.', Language),
						),
						postalAddress: Type.Optional(PostalAddress),
					},
				),
				response: { 200: ProjectView },
			},
		},
		async (request) => {
			const { project, visitor, body } = request
			const { name, tracking, language } = body
			const postalAddress =
				body.postalAddress === undefined ? undefined : linesOf(body.postalAddress ?? '') || null
			const changes = { name, tracking, language, postalAddress }
			const changed = await administering(request, (em) =>
				updateProject(em, project.publicId, changes),
			)
			return view({ ...changed!, role: visitor!.role! })
		},
	)

	app.post(
		'/users/@me/projects/:id/regenerate-keys',
		{
			config,
			schema: {
				tags,
				summary: 'Replace both keys at once; the old ones stop working',
				description:
					'There is no grace period, and one key can’t be replaced alone. Store the secret key: later answers mask it.',
				params: ProjectParams,
				response: { 200: ProjectView },
			},
		},
		async (request) => {
			const { secretKey, columns } = newKeys()
			const { project, visitor } = request
			const renewed = await administering(request, (em) =>
				updateProject(em, project.publicId, columns),
			)
			return view({ ...renewed!, role: visitor!.role! }, secretKey)
		},
	)

	app.post(
		'/users/@me/projects/:id/reset',
		{
			config,
			schema: {
				tags,
				summary: 'Delete all data of a project permanently; domains, members and keys stay',
				description:
					'The project is empty for the API at once. Its rows are removed in the background.',
				params: ProjectParams,
				response: { 200: Message },
			},
		},
		async (request) => {
			// Each empties a project in the background, in turns with the work of others.
			const subject = request.project.publicId
			await countTry(pool, { what: 'reset of project', subject, tries: 10, seconds: 3600 })
			await administeringAccount(request, async (_, db, projectId) => {
				// Otherwise another reset was faster.
				if (projectId === request.project.id) await resetProject(db, projectId, taskQueues.core)
			})
			app.relay.wake()
			return { message: 'The project is empty' }
		},
	)

	app.delete(
		'/users/@me/projects/:id',
		{
			config,
			schema: {
				tags,
				summary: 'Delete a project with all its data permanently',
				description:
					'The keys stop working at once. The rows of the project are removed in the background.',
				params: ProjectParams,
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			await administeringAccount(request, (_, db, projectId) =>
				deleteProject(db, { projectId, taskQueue: taskQueues.core }),
			)
			app.relay.wake()
			return reply.code(204).send(null)
		},
	)
}

/** The lines that contain text. */
const linesOf = (text: string) =>
	text
		.split(/[\r\n\u2028\u2029]+/)
		.map((line) => line.trim())
		.filter((line) => line !== '')
		.join('\n')

const sessionEnded = () => new ApiError(401, 'UNAUTHORIZED', 'This session has ended')

function freshKeys() {
	const { secretKey, columns } = newKeys()
	return {
		secretKey,
		values: {
			publicKey: columns.publicKey,
			digest: columns.secretKeyDigest,
			ending: columns.secretKeyEnding,
		},
	}
}

const view = (
	{ secretKeyEnding, disabledReason, ...project }: ProjectRecord,
	secretKey?: string,
) => ({
	...project,
	secret: secretKey ?? `sk_…${secretKeyEnding}`,
	disabled: disabledReason !== null,
	disabledReason,
})
