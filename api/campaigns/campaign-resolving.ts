import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { Campaign } from '../../db/campaigns/campaign.ts'
import { progressOf } from '../../db/campaigns/campaign-counts.ts'
import { resolveCampaign } from '../../db/campaigns/campaign-resolution.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { notFound } from '../errors.ts'
import { PathId } from '../schemas.ts'
import { requireSender } from '../send/sender.ts'

/** After this time the request is answered; another request continues with the rest. */
const longestMs = 10_000

/** Uncertain mails of a campaign. */
export const campaignResolving: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (
	app,
	{ pool },
) => {
	app.post(
		'/campaigns/:id/resolve',
		{
			config: { auth: 'secret key or session', errors: [403] },
			schema: {
				tags: ['campaigns'],
				summary: 'Settle all uncertain mails of a campaign',
				description:
					'`sent` counts them as sent; `retry` sends them again, at the risk of second copies. A SENDING campaign sends them itself; for any other campaign they are sent as single mails. The call takes at most ten seconds: repeat it while `uncertain` is not 0.',
				params: Type.Object({ id: PathId('campaign') }),
				body: Type.Object(
					{
						as: Type.Enum(['sent', 'retry'], {
							description:
								'sent: the mails count as sent. retry: they are sent again, at the risk of second copies.',
						}),
					},
					{ additionalProperties: false, examples: [{ as: 'sent' }] },
				),
				response: {
					200: Type.Object({
						resolved: Type.Integer(),
						uncertain: Type.Integer({
							description: 'How many are left, or became uncertain meanwhile',
						}),
					}),
				},
			},
		},
		async ({ em, project, params, body }) => {
			const key: [string, string, string] = [project.id, params.id, taskQueues.core]
			const resolved = await resolveCampaign(pool, key, body.as, longestMs)
			const [progress] = await progressOf(pool, { projectId: project.id, campaignId: params.id })
			if (resolved === null || !progress) throw notFound('campaign', params.id)
			if (resolved > 0) app.relay.wake()
			else if (body.as === 'retry' && progress.uncertain > 0) {
				const { from } = await em.findOneOrFail(Campaign, { projectId: project.id, id: params.id })
				await requireSender(em, project.id, from)
			}
			return { resolved, uncertain: progress.uncertain }
		},
	)
}
