import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { progressOf } from '../../db/campaigns/campaign-counts.ts'
import { resolveCampaign } from '../../db/campaigns/campaign-resolution.ts'
import { taskQueues } from '../../workflows/task-queues.ts'
import { notFound } from '../errors.ts'
import { PathId } from '../schemas.ts'

/** A request is answered by then; what is left is for the next one. */
const longestMs = 10_000

/** Mails of a campaign of which nobody knows whether they went. */
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
					'`sent` takes them as delivered; `retry` hands them over once more, at the risk of repeats. A campaign that is SENDING goes on with them; of any other they go as single mails. The answer comes after ten seconds at most: repeat the call while `uncertain` is not 0.',
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
						uncertain: Type.Integer({ description: 'How many are left, or new' }),
					}),
				},
			},
		},
		async ({ project, params, body }) => {
			const key: [string, string, string] = [project.id, params.id, taskQueues.core]
			const resolved = await resolveCampaign(pool, key, body.as, longestMs)
			const [progress] = await progressOf(pool, [project.id, params.id])
			if (resolved === null || !progress) throw notFound('campaign', params.id)
			if (resolved > 0) app.relay.wake()
			return { resolved, uncertain: progress.uncertain }
		},
	)
}
