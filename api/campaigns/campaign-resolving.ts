import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { progressOf } from '../../db/campaigns/campaign-counts.ts'
import { resolveCampaign } from '../../db/campaigns/campaign-resolution.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { notFound } from '../errors.ts'
import { PathId } from '../schemas.ts'

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
			config: { auth: 'secret key or session' },
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
		async ({ project, params, body }) => {
			const key: [string, string, string] = [project.id, params.id, taskQueues.core]
			const resolved = await resolveCampaign(pool, key, body.as, longestMs)
			const [progress] = await progressOf(pool, { projectId: project.id, campaignId: params.id })
			if (resolved === null || !progress) throw notFound('campaign', params.id)
			if (resolved > 0) app.relay.wake()
			return { resolved, uncertain: progress.uncertain }
		},
	)
}
