import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { findCampaign } from '../../db/campaigns/campaign-records.ts'
import { campaignTimeseries } from '../../db/campaigns/campaign-timeseries.ts'
import { Component, PathId, Timestamp } from '../schemas.ts'
import { existing } from './campaigns.ts'

const Count = Type.Integer()
const Step = Component('CampaignStep', {
	at: Timestamp,
	sent: Count,
	delivered: Count,
	opened: Count,
	clicked: Count,
	bounced: Count,
	unsubscribed: Count,
})

/** How many steps of each length are shown: 25 hours, 31 days, a year. Minutes are kept for the first day. */
const mostSteps = { minute: 1500, hour: 744, day: 366 }

export const campaignTimes: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/campaigns/:id/timeseries',
		{
			config: { auth: 'secret key or session' },
			schema: {
				tags: ['campaigns'],
				summary: 'Get the course of a campaign',
				description:
					'From its start to its latest change, with every step in between: at most 1,500 minutes, 744 hours or 366 days in UTC. Each mail counts once per column, when it was sent, first opened, first clicked and so on. Empty before the start.',
				params: Type.Object({ id: PathId('campaign') }),
				querystring: Type.Object({
					interval: Type.Enum(['minute', 'hour', 'day'], {
						default: 'hour',
						description: 'The length of a step.',
					}),
				}),
				response: { 200: Type.Array(Step) },
			},
		},
		async ({ project, params, query: { interval } }) => {
			const which = { projectId: project.id, campaignId: params.id }
			existing(await findCampaign(pool, which), params.id)
			const step = `1 ${interval}`
			return campaignTimeseries(pool, { ...which, step, most: mostSteps[interval] })
		},
	)
}
