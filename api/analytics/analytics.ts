import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import {
	campaignFigures,
	campaignRows,
	timeseries,
	topCampaigns,
	topEvents,
} from '../../db/analytics/analytics.ts'
import { campaignStatuses } from '../../db/campaigns/campaign.ts'
import { Component, Id } from '../schemas.ts'
import { Days, readDays } from './analytics-days.ts'
import { percentOf } from './percent.ts'

const Count = Type.Integer()
const Rate = Type.Number({ description: 'Percent' })

const Day = Component('AnalyticsDay', {
	date: Type.String({ format: 'date' }),
	emails: Count,
	opens: Count,
	clicks: Count,
	bounces: Count,
	delivered: Count,
})
const TopCampaign = Component('TopCampaign', {
	id: Id,
	name: Type.String(),
	subject: Type.String(),
	sentCount: Count,
	openedCount: Count,
	clickedCount: Count,
	openRate: Rate,
	clickRate: Rate,
})
const mostCampaigns = 1000
const CampaignRow = Type.Object({
	id: Id,
	name: Type.String(),
	status: Type.Enum([...campaignStatuses]),
	sentCount: Count,
	deliveredCount: Count,
	openedCount: Count,
	clickedCount: Count,
	bouncedCount: Count,
	openRate: Rate,
	clickRate: Rate,
})
const CampaignFigures = Type.Object({
	total: Count,
	active: Count,
	completed: Count,
	averageOpenRate: Rate,
	averageClickRate: Rate,
	campaigns: Type.Array(CampaignRow, { description: `The newest ${mostCampaigns} at most` }),
})
const TopEvent = Component('TopEvent', {
	name: Type.String(),
	count: Count,
	trend: Type.Integer({ description: 'Percent more than in as many days before; 100 if new' }),
})

const limitOf = (byDefault: number) =>
	Type.Integer({ minimum: 1, default: byDefault, description: 'At most 50' })
const most = (limit: number) => Math.min(limit, 50)

const withRates = <T extends { sentCount: number; openedCount: number; clickedCount: number }>(
	row: T,
) => ({
	...row,
	openRate: percentOf(row.openedCount, row.sentCount),
	clickRate: percentOf(row.clickedCount, row.sentCount),
})

const config = { auth: 'secret key or session' } as const
const tags = ['analytics']

export const analytics: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/analytics/timeseries',
		{
			config,
			schema: {
				tags,
				summary: 'Mails by day',
				description:
					'Every day, at most 366. Each mail counts once in every column, on the day on which it was sent, first opened and so on.',
				querystring: Type.Object(Days),
				response: { 200: Type.Array(Day) },
			},
		},
		async ({ project, query }) => timeseries(pool, [project.id, ...(await readDays(pool, query))]),
	)

	app.get(
		'/analytics/top-campaigns',
		{
			config,
			schema: {
				tags,
				summary: 'List the best campaigns of a period',
				description: 'Ranked by the metric, as of now: a late open still counts for its campaign.',
				querystring: Type.Object({
					...Days,
					limit: limitOf(10),
					metric: Type.Enum(['opened', 'clicked', 'sent'], {
						default: 'opened',
						description: 'What the campaigns are ranked by.',
					}),
				}),
				response: { 200: Type.Array(TopCampaign) },
			},
		},
		async ({ project, query }) => {
			const days = await readDays(pool, query)
			const rows = await topCampaigns(pool, [project.id, ...days, query.metric, most(query.limit)])
			return rows.map(withRates)
		},
	)

	app.get(
		'/analytics/campaign-stats',
		{
			config,
			schema: {
				tags,
				summary: 'Get figures of the campaigns created in a period',
				description: 'Totals over all of these campaigns, as of now.',
				querystring: Type.Object(Days),
				response: { 200: CampaignFigures },
			},
		},
		async ({ project, query }) => {
			const wanted = [project.id, ...(await readDays(pool, query))]
			const [[figures], rows] = await Promise.all([
				campaignFigures(pool, wanted),
				campaignRows(pool, [...wanted, mostCampaigns]),
			])
			const { averageOpenRate, averageClickRate, ...counts } = figures!
			return {
				...counts,
				averageOpenRate: percentOf(averageOpenRate, 100),
				averageClickRate: percentOf(averageClickRate, 100),
				campaigns: rows.map(withRates),
			}
		},
	)

	app.get(
		'/analytics/top-events',
		{
			config,
			schema: {
				tags,
				summary: 'List the commonest custom events of a period',
				description: 'Events of the service itself, such as email.open, are not included.',
				querystring: Type.Object({ ...Days, limit: limitOf(5) }),
				response: { 200: Type.Array(TopEvent) },
			},
		},
		async ({ project, query }) => {
			const days = await readDays(pool, query)
			const rows = await topEvents(pool, [project.id, ...days, most(query.limit)])
			return rows.map(({ name, count, before }) => ({
				name,
				count,
				trend: before === 0 ? 100 : Math.round((100 * (count - before)) / before),
			}))
		},
	)
}
