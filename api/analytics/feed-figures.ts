import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Pool } from 'pg'
import { mailTotals } from '../../db/analytics/analytics.ts'
import { countEntries, feedTypes, sourcesOf } from '../../db/analytics/feed.ts'
import { upcoming } from '../../db/analytics/upcoming.ts'
import { eventSums } from '../../db/events/event-queries.ts'
import { readEventCounts } from '../events/event-counts.ts'
import { Component, Id, Json, Timestamp } from '../schemas.ts'
import { countFeed, feedWindow, viewOfItem } from './feed.ts'
import { percentOf } from './percent.ts'
import { Period } from './period.ts'

const Count = Type.Integer()
const Rate = Type.Number({ description: 'Percent of totalEmailsSent' })
const Stats = Component('ActivityStats', {
	totalEvents: Count,
	totalEmailsSent: Count,
	totalEmailsDelivered: Count,
	totalEmailsOpened: Count,
	totalEmailsClicked: Count,
	totalEmailsBounced: Type.Integer({ description: 'Permanent bounces' }),
	totalEmailsComplained: Count,
	totalWorkflowsStarted: Count,
	openRate: Rate,
	clickRate: Rate,
})

const UpcomingItem = Component('UpcomingActivity', {
	id: Id,
	type: Type.Enum(['campaign.scheduled', 'email.scheduled', 'workflow.active']),
	timestamp: Timestamp,
	contactEmail: Type.Optional(Type.String()),
	contactId: Type.Optional(Id),
	metadata: Json,
})

const config = { auth: 'secret key or session' } as const
const tags = ['activity']
const minuteMs = 60_000

export const feedFigures: FastifyPluginAsyncTypebox<{ pool: Pool }> = async (app, { pool }) => {
	app.get(
		'/activity/stats',
		{
			config,
			schema: {
				tags,
				summary: 'Count activities',
				description:
					'Covers the last 30 days unless you set startDate. Counts the mails sent in that time, to the quarter of an hour, and each as opened or clicked at most once. Deliveries, bounces and complaints are counted when they happened. Events are the activities of type event.triggered.',
				querystring: Type.Object(Period),
				response: { 200: Stats },
			},
		},
		async ({ project, query }) => {
			const { start, end } = feedWindow(query)
			const [events, [mails], [workflows]] = await Promise.all([
				readEventCounts(pool, project.id, (db) =>
					eventSums(db, { projectId: project.id, since: start, until: end }),
				),
				mailTotals(pool, { projectId: project.id, since: start, until: end }),
				countEntries(pool, {
					projectId: project.id,
					entryTypes: ['workflow.started'],
					since: start,
					until: end,
				}),
			])
			const { sent, delivered, opened, clicked, bounced } = mails!
			const countOf = (asked: string) => events.find(({ name }) => name === asked)?.count ?? 0
			return {
				totalEvents: countOf('event.triggered'),
				totalEmailsSent: sent,
				totalEmailsDelivered: delivered,
				totalEmailsOpened: opened,
				totalEmailsClicked: clicked,
				totalEmailsBounced: bounced,
				totalEmailsComplained: countOf('email.complaint'),
				totalWorkflowsStarted: workflows!.total,
				openRate: percentOf(opened, sent),
				clickRate: percentOf(clicked, sent),
			}
		},
	)

	app.get(
		'/activity/recent-count',
		{
			config,
			schema: {
				tags,
				summary: 'Count the activities of the last minutes',
				description: 'For a live display. Counts activities of every type.',
				querystring: Type.Object({
					minutes: Type.Integer({ minimum: 1, default: 5, description: 'At most 60' }),
				}),
				response: { 200: Type.Object({ count: Count, minutes: Count }) },
			},
		},
		async ({ project, query }) => {
			const minutes = Math.min(query.minutes, 60)
			const since = new Date(Date.now() - minutes * minuteMs)
			const count = await countFeed(pool, project.id, sourcesOf(feedTypes), since, null)
			return { count, minutes }
		},
	)

	app.get(
		'/activity/types',
		{
			config,
			schema: {
				tags,
				summary: 'List the types of activities',
				description: 'The values that the `types` parameter of GET /activity takes.',
				response: { 200: Type.Object({ types: Type.Array(Type.Enum(feedTypes)) }) },
			},
		},
		async () => ({ types: feedTypes }),
	)

	app.get(
		'/activity/upcoming',
		{
			config,
			schema: {
				tags,
				summary: 'List upcoming activities, soonest first',
				description:
					'Scheduled campaigns and mails, and active executions by the time they wake. Executions that wait only for an event are listed by the time they started.',
				querystring: Type.Object({
					limit: Type.Integer({ minimum: 1, default: 20, description: 'At most 100' }),
					daysAhead: Type.Integer({ minimum: 1, default: 30, description: 'At most 90' }),
				}),
				response: { 200: Type.Object({ activities: Type.Array(UpcomingItem) }) },
			},
		},
		async ({ project, query: { limit, daysAhead } }) => {
			const rows = await upcoming(pool, {
				projectId: project.id,
				daysAhead: Math.min(daysAhead, 90),
				limit: Math.min(limit, 100),
			})
			return { activities: rows.map(viewOfItem) }
		},
	)
}
