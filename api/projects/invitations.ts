import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import { invitedRoles } from '../../db/projects/invitation.ts'
import {
	pendingInvitations,
	renewInvitation,
	withdrawInvitation,
} from '../../db/projects/pending-invitations.ts'
import { notFound } from '../errors.ts'
import { Component, Id, PathId, Timestamp } from '../schemas.ts'
import { administering } from './administering.ts'
import {
	invitationSeconds,
	type InvitingOptions,
	limitInvited,
	limitInviter,
	newInvitation,
} from './inviting.ts'
import { ProjectParams } from './projects.ts'

const Pending = Component('PendingInvitation', {
	id: Id,
	email: Type.String(),
	role: Type.Enum([...invitedRoles]),
	invitedBy: Type.String({ description: 'The address of the member who sent it last' }),
	createdAt: Timestamp,
	expiresAt: Timestamp,
})

const tags = ['projects']
const config = { auth: 'session' } as const
const Params = Type.Object({ id: PathId('project'), invitationId: PathId('invitation') })

/** Invitations that wait to be accepted. POST /projects/{id}/members makes them. */
export const invitations: FastifyPluginAsyncTypebox<InvitingOptions> = async (app, options) => {
	const { pool, settings } = options

	app.get(
		'/projects/:id/invitations',
		{
			config,
			schema: {
				tags,
				summary: 'List the pending invitations to a project, newest first',
				description:
					'People who were invited and have not accepted yet. Expired invitations are not listed.',
				params: ProjectParams,
				response: { 200: Type.Array(Pending) },
			},
		},
		async ({ project }) => pendingInvitations(pool, { projectId: project.id }),
	)

	app.delete(
		'/projects/:id/invitations/:invitationId',
		{
			config,
			schema: {
				tags,
				summary: 'Revoke an invitation',
				description: 'The link in its mail stops working at once.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async (request, reply) => {
			const { invitationId } = request.params
			const [gone] = await administering(request, (_, db, projectId) =>
				withdrawInvitation(db, { projectId, invitationId }),
			)
			if (!gone) throw notFound('invitation', invitationId)
			return reply.code(204).send(null)
		},
	)

	app.post(
		'/projects/:id/invitations/:invitationId/resend',
		{
			config: { ...config, errors: [429] },
			schema: {
				tags,
				summary: 'Send an invitation again',
				description:
					'The new mail has a new link that works for seven days; the link in the earlier mail stops working.',
				params: Params,
				response: { 200: Pending },
			},
		},
		async (request) => {
			await limitInviter(request, options)
			const { digest, mailTo } = await newInvitation(request, settings)
			const { user, params } = request
			const renewed = await administering(request, async (_, db, projectId) => {
				const [invitation] = await renewInvitation(db, {
					projectId,
					invitationId: params.invitationId,
					digest,
					inviter: user.email,
					seconds: invitationSeconds,
				})
				if (!invitation) throw notFound('invitation', params.invitationId)
				await limitInvited(db, request, invitation.email)
				await mailTo(db, invitation.email)
				return invitation
			})
			app.relay.wake()
			return renewed
		},
	)
}
