import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool, PoolClient } from 'pg'
import { renderPlatformMail } from '../../mail/platform/mail.ts'
import { newSecretToken, tokenDigest } from '../../db/accounts/secret-token.ts'
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
import { linkTo, type MailSettings } from '../accounts/account-mail.ts'
import { unverified } from '../accounts/session-auth.ts'
import { countTry, networkOf } from '../accounts/throttling.ts'
import { ApiError, notFound } from '../errors.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import { about, Body, Component, Email, Id, normalizeEmail, PathId, Timestamp } from '../schemas.ts'
import { administering } from './administering.ts'
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

const invitationSeconds = 7 * 24 * 60 * 60

interface NewInvitation {
	/** Its name. */
	project: string
	/** The address of the inviter. */
	inviter: string
	projectId: string
	email: string
	role: (typeof invitedRoles)[number]
}

export interface MemberOptions {
	pool: Pool
	settings: MailSettings
	isMailReal: boolean
}

export const members: FastifyPluginAsyncTypebox<MemberOptions> = async (
	app,
	{ pool, settings, isMailReal },
) => {
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
			const { project, user, body, headers, ip } = request
			const email = normalizeEmail(body.email)
			const role = body.role ?? 'MEMBER'
			// The answer reveals who has an account, and any address gets a mail in our name, so inviters must be
			// verified.
			if (isMailReal && !user.emailVerified) throw unverified()
			await countInvitation('invite from', networkOf(ip), 100)
			await countInvitation('invite by', user.id, 50)
			await countInvitation('invite', project.publicId, 50)
			const member = await administering(request, async (_, db, projectId) => {
				const [member] = await addMember(db, { projectId, email, role })
				if (member && !member.isNew) throw alreadyMember(member.userId)
				await countTry(db, {
					what: 'invite',
					subject: `${project.publicId} ${email}`,
					tries: 3,
					seconds: 3600,
				})
				const language = acceptedLanguage(headers['accept-language'])
				const about = { project: project.name, inviter: user.email }
				const mail = member
					? await renderPlatformMail('memberAdded', language, about)
					: await invitation(db, language, { ...about, projectId, email, role })
				await queuePlatformMails(db, {
					mails: [{ from: settings.platformFrom, to: email, ...mail }],
				})
				return member
			})
			app.relay.wake()
			if (member) return reply.code(201).send(member)
			const followedAt = `/projects/${project.publicId}/members`
			return reply.code(202).header('location', followedAt).send({ invited: true, email, role })
		},
	)

	async function invitation(
		db: PoolClient,
		language: string,
		{ project, inviter, projectId, email, role }: NewInvitation,
	) {
		const token = newSecretToken()
		const digest = tokenDigest(token)
		await invite(db, { projectId, email, role, digest, inviter, seconds: invitationSeconds })
		const url = linkTo(settings.publicUrl, '/auth/accept-invitation', token)
		return renderPlatformMail('invitation', language, { url, project, inviter })
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
		async ({ project, user, params: { userId }, body }) => {
			refuseOneself(user.id, userId)
			const [member] = await changeRole(pool, { projectId: project.id, userId, role: body.role })
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
		async ({ project, user, params: { userId } }, reply) => {
			refuseOneself(user.id, userId)
			const [member] = await removeMember(pool, { projectId: project.id, userId })
			if (!member) throw notFound('member', userId)
			if (!member.removed) throw ownerIsFixed()
			return reply.code(204).send(null)
		},
	)

	const countInvitation = (what: string, subject: string, tries: number) =>
		countTry(pool, { what, subject, tries, seconds: 3600 })
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
