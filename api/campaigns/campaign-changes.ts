import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool, PoolClient } from 'pg'
import { countAudience } from '../../db/campaigns/campaign-audience.ts'
import {
	deleteCampaign,
	findCampaign,
	insertCampaign,
	lockCampaign,
	updateCampaign,
} from '../../db/campaigns/campaign-records.ts'
import { isMissingReference } from '../../db/reference.ts'
import { countInTurn } from '../../db/timed-reading.ts'
import { transaction, transactional } from '../../db/transaction.ts'
import { copyName } from '../copy-name.ts'
import { ApiError } from '../errors.ts'
import { refuseChanged } from '../requests/read-version.ts'
import { PathId } from '../schemas.ts'
import { requireSender, withSender } from '../send/sender.ts'
import {
	ChangedCampaign,
	checkContent,
	contentOf,
	refuseTime,
	namedTemplate,
	recipientsOf,
} from './campaign-content.ts'
import { Campaign, existing, unlessGone, viewFor, wrongState } from './campaigns.ts'

const tags = ['campaigns']
const auth = 'secret key or session'
const Params = Type.Object({ id: PathId('campaign') })

/** Routes that change a campaign, besides sending it. */
export const campaignChanges: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.put(
		'/campaigns/:id',
		{
			config: { auth, errors: [400, 403, 409], ifMatch: true },
			schema: {
				tags,
				summary: 'Change a campaign that has not started',
				description:
					'Members that you leave out stay as they are; null clears an optional one. With the header `If-Match: "<updatedAt>"`, a campaign that has changed since is refused (409).',
				params: Params,
				body: ChangedCampaign,
				response: { 200: Campaign },
			},
		},
		async (request) => {
			const { em, project, params, body: given } = request
			const body = withSender(given)
			const key = { projectId: project.id, campaignId: params.id }
			const { scheduledFor } = existing(await findCampaign(pool, key), params.id)
			refuseTime(given, scheduledFor)
			const template = await namedTemplate(em, project.id, body)
			const from = body.from ?? template?.from
			if (from !== undefined) await requireSender(em, project.id, from)
			const change = async (em: EntityManager, db: PoolClient) => {
				const campaign = existing(await lockCampaign(db, key), params.id)
				if (campaign.status !== 'DRAFT' && campaign.status !== 'SCHEDULED')
					throw wrongState(
						campaign,
						'changed',
						'Only a DRAFT or SCHEDULED campaign can be changed.',
					)
				refuseChanged(request, 'campaign', campaign)
				const content = contentOf(body, template, campaign)
				await checkContent(project.id, content)
				const recipients = await recipientsOf(db, project.id, content)
				await updateCampaign(em, key, content, recipients)
				return existing(await findCampaign(db, key), params.id)
			}
			const changed = await unlessGone(body.template, () =>
				countInTurn(project.id, (limit) => transactional(em, change, limit)),
			)
			return viewFor(project)(changed)
		},
	)

	app.delete(
		'/campaigns/:id',
		{
			config: { auth, errors: [409] },
			schema: {
				tags,
				summary: 'Delete a campaign',
				description: 'Mails that it has sent stay in the ledger.',
				params: Params,
				response: { 204: Type.Null() },
			},
		},
		async ({ project, params }, reply) => {
			await transaction(pool, async (db) => {
				const key = { projectId: project.id, campaignId: params.id }
				const { status } = existing(await lockCampaign(db, key), params.id)
				if (status === 'SCHEDULED' || status === 'SENDING')
					throw new ApiError(409, 'CONFLICT', `This campaign is ${status}`, {
						details: { status },
						suggestion: 'Cancel it first.',
					})
				await deleteCampaign(db, key)
			})
			return reply.code(204).send(null)
		},
	)

	app.post(
		'/campaigns/:id/duplicate',
		{
			config: { auth },
			schema: {
				tags,
				summary: 'Copy a campaign',
				description: 'The copy is a DRAFT with the same content and audience, and a new name.',
				params: Params,
				response: { 201: Campaign },
			},
		},
		async ({ em, project, params }, reply) => {
			const copyOf = async (em: EntityManager, db: PoolClient) => {
				const original = existing(
					await findCampaign(db, { projectId: project.id, campaignId: params.id }),
					params.id,
				)
				const content = { ...contentOf({}, null, original), name: copyName(original.name) }
				// An old campaign's segment may have been deleted; its owner will choose another.
				const recipients = await countAudience(db, project.id, content)
				const { id } = await insertCampaign(em, project.id, content, recipients)
				return existing(await findCampaign(db, { projectId: project.id, campaignId: id }), id)
			}
			const duplicate = () => countInTurn(project.id, (limit) => transactional(em, copyOf, limit))
			const copy = await duplicate().catch((error: unknown) => {
				// A record that the original refers to was deleted after it was read; a retry sees no reference.
				if (!isMissingReference(error)) throw error
				return duplicate()
			})
			return reply.code(201).send(viewFor(project)(copy))
		},
	)
}
