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
import { readEventCounts } from '../events/event-counts.ts'
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
	complaints: Count,
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
	campaigns: Type.Array(CampaignRow, { description: `At most the newest ${mostCampaigns}` }),
})
const TopEvent = Component('TopEvent', {
	name: Type.String(),
	count: Count,
	trend: Type.Integer({ description: 'Change in percent against the period before; 100 if new' }),
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
				summary: 'Count mails by day',
				description:
					'One entry per day, at most 366. Each mail counts once per column, on the day it was sent, first opened, first clicked and so on. Complaints of those who get a copy (cc, bcc) count, too.',
				querystring: Type.Object(Days),
				response: { 200: Type.Array(Day) },
			},
		},
		async ({ project, query }) =>
			timeseries(pool, { projectId: project.id, ...(await readDays(pool, query)) }),
	)

	app.get(
		'/analytics/top-campaigns',
		{
			config,
			schema: {
				tags,
				summary: 'List the best campaigns of a period',
				description: 'Ranked by current figures: a late open still counts for its campaign.',
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
			const rows = await topCampaigns(pool, {
				projectId: project.id,
				...days,
				metric: query.metric,
				limit: most(query.limit),
			})
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
				description: 'Current totals of these campaigns.',
				querystring: Type.Object(Days),
				response: { 200: CampaignFigures },
			},
		},
		async ({ project, query }) => {
			const wanted = { projectId: project.id, ...(await readDays(pool, query)) }
			const [[figures], rows] = await Promise.all([
				campaignFigures(pool, wanted),
				campaignRows(pool, { ...wanted, limit: mostCampaigns }),
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
				summary: 'List the most frequent custom events of a period',
				description: 'Events of the service itself, such as email.open, are not included.',
				querystring: Type.Object({ ...Days, limit: limitOf(5) }),
				response: { 200: Type.Array(TopEvent) },
			},
		},
		async ({ project, query }) => {
			const days = await readDays(pool, query)
			const wanted = { projectId: project.id, ...days, limit: most(query.limit) }
			const rows = await readEventCounts(pool, project.id, (db) => topEvents(db, wanted))
			return rows.map(({ name, count, before }) => ({
				name,
				count,
				trend: before === 0 ? 100 : Math.round((100 * (count - before)) / before),
			}))
		},
	)
}
