import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig } from 'fastify'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool } from 'pg'
import { accountOf } from '../../db/billing/billing-accounts.ts'
import { type UsageCategory, usageCategories } from '../../db/billing/usage-count.ts'
import {
	exceeds,
	type Limit,
	percentageOf,
	setLimits,
	usageStanding,
	warningPercent,
} from '../../db/billing/usage-standing.ts'
import { administeringAccount } from '../projects/administering.ts'
import { ProjectParams } from '../projects/projects.ts'
import { about, Component, Nullable } from '../schemas.ts'
import { type BillingOptions, enabled } from './billing.ts'

const Standing = Component('BillingCategory', {
	limit: Nullable(Type.Integer()),
	usage: Type.Integer(),
	percentage: Type.Integer({ description: 'Percent of the limit; 0 without a limit' }),
	isWarning: Type.Boolean({ description: 'True from 80 %' }),
	isBlocked: Type.Boolean({
		description:
			'True if no more mail is accepted: at 100 %, or when the free mails of the month are used up',
	}),
})
const Limits = Component('BillingLimits', {
	...(Object.fromEntries(usageCategories.map((name) => [name, Standing])) as Record<
		UsageCategory,
		typeof Standing
	>),
	currency: Type.String(),
})
const Wanted = Type.Optional(
	about(
		'How many mails a month. Null removes the limit.',
		Nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
	),
)
const WantedLimits = Type.Object(
	Object.fromEntries(usageCategories.map((name) => [name, Wanted])) as Record<
		UsageCategory,
		typeof Wanted
	>,
	{ examples: [{ transactional: 10_000, campaigns: null }] },
)

const path = '/users/@me/projects/:id/billing-limits'
const tags = ['billing']
const config: FastifyContextConfig = { auth: 'session', errors: [404] }

/** How much a project may send in a calendar month (UTC). */
export const billingLimits: FastifyPluginAsyncTypebox<BillingOptions> = async (
	app,
	{ pool, stripe },
) => {
	app.addHook('preValidation', async () => void enabled(stripe))
	app.get(
		path,
		{
			config,
			schema: {
				tags,
				summary: 'Get the limits of each category, and the usage of this month',
				description: 'The month is a calendar month in UTC. A category without a limit is null.',
				params: ProjectParams,
				response: { 200: Limits },
			},
		},
		async ({ em, project }) => standingOf(em, pool, project.id),
	)

	app.put(
		path,
		{
			config: { ...config, evenDisabled: true },
			schema: {
				tags,
				summary: 'Set limits',
				description:
					'Takes effect at once. Null removes a limit, and limits that are not given stay. Mail over a limit is refused with 429.',
				params: ProjectParams,
				body: WantedLimits,
				response: { 200: Limits },
			},
		},
		async (request) => {
			const projectId = await administeringAccount(request, async (em, _, projectId) => {
				await setLimits(em, projectId, request.body)
				return projectId
			})
			return standingOf(request.em, pool, projectId)
		},
	)
}

async function standingOf(em: EntityManager, pool: Pool, projectId: string) {
	const [rows, account] = await Promise.all([
		usageStanding(pool, { projectId }),
		accountOf(em, projectId),
	])
	const limitOf = (name: string): Limit | null => {
		const { category, usage, limit } = rows.find((row) => row.category === name)!
		return limit === null ? null : { category, usage, limit }
	}
	const total = limitOf('total')
	const view = (name: UsageCategory) => {
		const own = limitOf(name)
		const limits = [own, total].filter((limit) => limit !== null)
		return {
			limit: own?.limit ?? null,
			usage: rows.find((row) => row.category === name)!.usage,
			percentage: own ? percentageOf(own) : 0,
			isWarning: limits.some((limit) => percentageOf(limit) >= warningPercent),
			isBlocked: limits.some((limit) => exceeds(limit, 1)),
		}
	}
	return {
		workflows: view('workflows'),
		campaigns: view('campaigns'),
		transactional: view('transactional'),
		inbound: view('inbound'),
		currency: account?.currency ?? 'usd',
	}
}
