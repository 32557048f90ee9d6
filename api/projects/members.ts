import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { renderPlatformMail } from '../../activities/rendering/platform/mail.ts'
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
import { transaction } from '../../db/transaction.ts'
import { linkTo, type MailSettings } from '../accounts/account-mail.ts'
import { unverified } from '../accounts/session-auth.ts'
import { countTry, networkOf } from '../accounts/throttling.ts'
import { ApiError, notFound } from '../errors.ts'
import { acceptedLanguage } from '../public/public-words.ts'
import { Email, Id, normalizeEmail, PathId, Timestamp } from '../schemas.ts'
import { ProjectParams } from './projects.ts'

const MemberView = Type.Object({
	userId: Id,
	email: Type.String(),
	role: Type.Enum([...roles]),
	createdAt: Timestamp,
})
const GivenRole = Type.Enum([...invitedRoles])
const Invited = Type.Object({
	invited: Type.Literal(true),
	email: Type.String(),
	role: GivenRole,
})

const tags = ['projects']
const config = { auth: 'session' } as const
const MemberParams = Type.Object({ id: PathId('project'), userId: PathId('member') })

const invitationSeconds = 7 * 24 * 60 * 60

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
				summary: 'Who works on a project',
				params: ProjectParams,
				response: { 200: Type.Array(MemberView) },
			},
		},
		async ({ project }) => membersOf(pool, [project.id]),
	)

	app.post(
		'/projects/:id/members',
		{
			config: { ...config, errors: [409, 429] },
			schema: {
				tags,
				summary: 'Add a member; somebody without an account is invited by mail',
				params: ProjectParams,
				body: Type.Object({
					email: Email,
					role: Type.Optional(Type.Enum([...invitedRoles], { default: 'MEMBER' })),
				}),
				response: { 201: MemberView, 202: Invited },
			},
		},
		async ({ project, user, body, headers, ip }, reply) => {
			const email = normalizeEmail(body.email)
			const role = body.role ?? 'MEMBER'
			// The answer tells who has an account, and invitations go to anybody's address, in our name.
			if (isMailReal && !user.emailVerified) throw unverified()
			await countInvitation('invite from', networkOf(ip), 100)
			await countInvitation('invite by', user.id, 50)
			await countInvitation('invite', project.publicId, 50)
			const [member] = await addMember(pool, [project.id, email, role])
			if (member?.isNew) return reply.code(201).send(member)
			if (member) throw alreadyMember(member.userId)

			await countInvitation('invite', `${project.publicId} ${email}`, 3)
			const token = newSecretToken()
			const mail = await renderPlatformMail(
				'invitation',
				acceptedLanguage(headers['accept-language']),
				{
					url: linkTo(settings.publicUrl, '/auth/accept-invitation', token),
					project: project.name,
					inviter: user.email,
				},
			)
			await transaction(pool, async (db) => {
				const digest = tokenDigest(token)
				await invite(db, [project.id, email, role, digest, user.email, invitationSeconds])
				await queuePlatformMails(db, [
					JSON.stringify([{ from: settings.platformFrom, to: email, ...mail }]),
				])
			})
			app.relay.wake()
			return reply.code(202).send({ invited: true, email, role })
		},
	)

	app.patch(
		'/projects/:id/members/:userId',
		{
			config,
			schema: {
				tags,
				summary: "Change a member's role",
				params: MemberParams,
				body: Type.Object({ role: GivenRole }),
				response: { 200: MemberView },
			},
		},
		async ({ project, user, params: { userId }, body }) => {
			refuseOneself(user.id, userId)
			const [member] = await changeRole(pool, [project.id, userId, body.role])
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
				params: MemberParams,
				response: { 204: Type.Null() },
			},
		},
		async ({ project, user, params: { userId } }, reply) => {
			refuseOneself(user.id, userId)
			const [member] = await removeMember(pool, [project.id, userId])
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
	throw new ApiError(403, 'FORBIDDEN', 'Nobody changes their own membership', {
		suggestion: 'Ask another administrator of the project.',
	})
}

const ownerIsFixed = () =>
	new ApiError(403, 'FORBIDDEN', 'The owner of a project is fixed', {
		suggestion: 'A project keeps its owner until it is deleted.',
	})
const alreadyMember = (userId: string) =>
	new ApiError(409, 'CONFLICT', 'They are a member of this project already', {
		details: { userId },
		suggestion: 'Change their role with PATCH /projects/{id}/members/{userId}.',
	})
