import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { PoolClient } from 'pg'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import { queuePlatformMails } from '../../db/emails/platform-mail.ts'
import { invitedRoles } from '../../db/projects/invitation.ts'
import {
	addMember,
	changeRole,
	invite,
	membersOf,
	removeMember,
} from '../../db/projects/members.ts'
import { roles } from '../../db/projects/membership.ts'
import { ApiError, notFound } from '../errors.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import { about, Body, Component, Email, Id, normalizeEmail, PathId, Timestamp } from '../schemas.ts'
import { administering } from './administering.ts'
import {
	invitationSeconds,
	type InvitingOptions,
	limitInvited,
	limitInviter,
	newInvitation,
} from './inviting.ts'
import { ProjectParams } from './projects.ts'

const MemberView = Component('Member', {
	userId: Id,
	email: Type.String(),
	role: Type.Enum([...roles]),
	createdAt: Timestamp,
})
const GivenRole = Type.Enum([...invitedRoles])
const Invited = Component('Invitation', {
	invited: Type.Literal(true),
	email: Type.String(),
	role: GivenRole,
})

const tags = ['projects']
const config = { auth: 'session' } as const
const MemberParams = Type.Object({ id: PathId('project'), userId: PathId('member') })

interface NewInvitation {
	projectId: string
	email: string
	role: (typeof invitedRoles)[number]
}

export const members: FastifyPluginAsyncTypebox<InvitingOptions> = async (app, options) => {
	const { pool, settings } = options

	app.get(
		'/projects/:id/members',
		{
			config,
			schema: {
				tags,
				summary: 'List the members of a project',
				description:
					'Members with their roles. People who have been invited appear once they accept.',
				params: ProjectParams,
				response: { 200: Type.Array(MemberView) },
			},
		},
		async ({ project }) => membersOf(pool, { projectId: project.id }),
	)

	app.post(
		'/projects/:id/members',
		{
			config: { ...config, errors: [409, 429] },
			schema: {
				tags,
				summary: 'Add a member, or invite somebody without a verified account by mail',
				description: 'A member who is added is notified by mail, too.',
				params: ProjectParams,
				body: Body(
					{ email: 'ann@example.org', role: 'MEMBER' },
					{
						email: about('The address of an account, or of a person to invite.', Email),
						role: Type.Optional(
							Type.Enum([...invitedRoles], {
								default: 'MEMBER',
								description: 'The role in this project.',
							}),
						),
					},
				),
				response: { 201: MemberView, 202: Invited },
			},
		},
		async (request, reply) => {
			const { project, body } = request
			const email = normalizeEmail(body.email)
			const role = body.role ?? 'MEMBER'
			await limitInviter(request, options)
			const member = await administering(request, async (_, db, projectId) => {
				const [member] = await addMember(db, { projectId, email, role })
				if (member && !member.isNew) throw alreadyMember(member.userId)
				await limitInvited(db, request, email)
				await (member
					? announce(db, request, email)
					: inviteBy(db, request, { projectId, email, role }))
				return member
			})
			app.relay.wake()
			if (member) return reply.code(201).send(member)
			const followedAt = `/projects/${project.publicId}/members`
			return reply.code(202).header('location', followedAt).send({ invited: true, email, role })
		},
	)

	async function announce(db: PoolClient, { project, user, headers }: FastifyRequest, to: string) {
		const language = acceptedLanguage(headers['accept-language'])
		const about = { project: project.name, inviter: user.email }
		const mail = await renderPlatformMail('memberAdded', language, about)
		await queuePlatformMails(db, { mails: [{ from: settings.platformFrom, to, ...mail }] })
	}

	async function inviteBy(db: PoolClient, request: FastifyRequest, invited: NewInvitation) {
		const { digest, mailTo } = await newInvitation(request, settings)
		const inviter = request.user.email
		await invite(db, { ...invited, digest, inviter, seconds: invitationSeconds })
		await mailTo(db, invited.email)
	}

	app.patch(
		'/projects/:id/members/:userId',
		{
			config,
			schema: {
				tags,
				summary: "Change a member's role",
				description: 'You can’t change your own role, and the role of the owner never changes.',
				params: MemberParams,
				body: Body({ role: 'ADMIN' }, { role: about('The new role.', GivenRole) }),
				response: { 200: MemberView },
			},
		},
		async (request) => {
			const { userId } = request.params
			refuseOneself(request.user.id, userId)
			const [member] = await administering(request, (_, db, projectId) =>
				changeRole(db, { projectId, userId, role: request.body.role }),
			)
			if (!member) throw notFound('member', userId)
			if (member.role === 'OWNER') throw ownerIsFixed()
			return member
		},
	)

	app.delete(
		'/projects/:id/members/:userId',
		{
			config,
			schema: {
				tags,
				summary: 'Remove a member',
				description: 'You can’t remove yourself or the owner.',
				params: MemberParams,
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const { userId } = request.params
			refuseOneself(request.user.id, userId)
			const [member] = await administering(request, (_, db, projectId) =>
				removeMember(db, { projectId, userId }),
			)
			if (!member) throw notFound('member', userId)
			if (!member.removed) throw ownerIsFixed()
			return reply.code(204).send(null)
		},
	)
}

function refuseOneself(own: string, userId: string) {
	if (userId.toLowerCase() !== own) return
	throw new ApiError(403, 'FORBIDDEN', 'You can’t change or remove your own membership', {
		suggestion: 'Ask another administrator of the project.',
	})
}

const ownerIsFixed = () =>
	new ApiError(403, 'FORBIDDEN', 'The owner of a project can’t be changed or removed', {
		suggestion: 'A project keeps its owner until it is deleted.',
	})
const alreadyMember = (userId: string) =>
	new ApiError(409, 'CONFLICT', 'This person is already a member of the project', {
		details: { userId },
		suggestion: 'Change their role with PATCH /projects/{id}/members/{userId}.',
	})
