import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { countContacts } from '../../db/contacts/contact-fields.ts'
import { setupState } from '../../db/projects/setup-state.ts'
import { changeWebhookSecret, webhookSecret } from '../../db/projects/webhook-secret.ts'
import { reputation } from '../../db/reputation/reputation.ts'
import { Component, Id, Nullable, Timestamp } from '../schemas.ts'
import { administering } from './administering.ts'
import { ProjectParams } from './projects.ts'

const SetupState = Component('SetupState', {
	hasSubscription: Type.Boolean(),
	hasVerifiedDomain: Type.Boolean(),
	hasPostalAddress: Type.Boolean({ description: 'For the footer of MARKETING mail' }),
	contactCount: Type.Integer(),
	lastCampaignSentAt: Nullable(Timestamp),
	hasEnabledWorkflow: Type.Boolean(),
})
const Window = Component('ReputationWindow', {
	total: Type.Integer(),
	bounces: Type.Integer(),
	complaints: Type.Integer(),
	bounceRate: Type.Number({ description: 'In percent' }),
	complaintRate: Type.Number({ description: 'In percent' }),
})
const Level = Type.Enum(['healthy', 'warning', 'critical'])
const Security = Component('ProjectSecurity', {
	status: Type.Object({
		projectId: Id,
		isHealthy: Type.Boolean(),
		shouldDisable: Type.Boolean(),
		twentyFourHour: Window,
		sevenDay: Window,
		allTime: Window,
		isNewProject: Type.Boolean(),
		violations: Type.Array(Type.String()),
		warnings: Type.Array(Type.String()),
	}),
	levels: Type.Object({
		bounce7Day: Level,
		bounceAllTime: Level,
		complaint7Day: Level,
		complaintAllTime: Level,
	}),
	isDisabled: Type.Boolean(),
	recentSuspensions: Type.Array(
		Type.Object({
			at: Type.String({ format: 'date-time' }),
			reason: Type.String(),
			liftedAt: Nullable(Type.String({ format: 'date-time' })),
		}),
	),
})
const Secret = Component('WebhookSecret', { secret: Type.String({ description: 'whsec_…' }) })

const config = { auth: 'session' } as const
const tags = ['projects']

export const projectState: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/projects/:id/setup-state',
		{
			config,
			schema: {
				tags,
				summary: 'Get the first steps that a project has completed',
				description:
					'Shows which first steps are done, such as a verified domain and an enabled workflow.',
				params: ProjectParams,
				response: { 200: SetupState },
			},
		},
		async ({ project: { id } }) => {
			const [[state], counts] = await Promise.all([
				setupState(pool, { projectId: id }),
				countContacts(pool, { projectId: id }),
			])
			const contactCount = counts.reduce((sum, { count }) => sum + count, 0)
			return { contactCount, ...state! }
		},
	)

	for (const path of ['/projects/:id/security', '/users/@me/projects/:id/security'])
		app.get(
			path,
			{
				config,
				schema: {
					tags,
					summary: 'Get bounces, complaints and suspensions',
					description: 'Rates of the last days, and the limits above which a project is suspended.',
					params: ProjectParams,
					response: { 200: Security },
				},
			},
			async ({ project }) => reputation(pool, project.id),
		)

	app.get(
		'/projects/:id/webhook-secret',
		{
			config: { ...config, neverKept: true },
			schema: {
				tags,
				summary: "Get the secret that signs the project's webhooks (Standard Webhooks)",
				description:
					'Verify the header webhook-signature of each request with it. Keep it as secret as the secret key.',
				params: ProjectParams,
				response: { 200: Secret },
			},
		},
		async ({ project }) => ({ secret: await webhookSecret(pool, project.id) }),
	)

	app.post(
		'/projects/:id/webhook-secret',
		{
			config,
			schema: {
				tags,
				summary: "Change the secret of the project's webhooks",
				description: 'Both the new and the old secret sign for a day.',
				params: ProjectParams,
				response: { 200: Secret },
			},
		},
		async (request) => ({
			secret: await administering(request, (_, db, id) => changeWebhookSecret(db, id)),
		}),
	)
}
