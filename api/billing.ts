import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig } from 'fastify'
import type { Pool } from 'pg'
import type { Stripe } from '../activities/stripe/client.ts'
import { checkoutUrl, createCustomer, portalUrl } from '../activities/stripe/customer.ts'
import { invoicesOf, upcomingInvoice } from '../activities/stripe/invoices.ts'
import { currencies } from '../db/billing-account.ts'
import { accountOf, keepCustomer } from '../db/billing-accounts.ts'
import { usageCategories } from '../db/usage-count.ts'
import { usageStanding } from '../db/usage-standing.ts'
import { ApiError } from './errors.ts'
import { ProjectParams } from './projects.ts'
import { Nullable, Timestamp } from './schemas.ts'
import { viaStripe } from './stripe-fault.ts'

const Link = Type.Object({ url: Type.String() })
const Consumption = Type.Object({
	period: Type.Object({ start: Timestamp, end: Timestamp }),
	usage: Type.Object({
		total: Type.Integer(),
		byCategory: Type.Object(
			Object.fromEntries(usageCategories.map((name) => [name, Type.Integer()])),
		),
	}),
	upcomingInvoice: Nullable(
		Type.Object({
			amountDue: Type.Number({ description: "In the currency's smallest unit" }),
			currency: Type.String(),
			periodStart: Timestamp,
			periodEnd: Timestamp,
		}),
	),
})
const Invoices = Type.Object({
	invoices: Type.Array(
		Type.Object({
			id: Type.String(),
			number: Nullable(Type.String()),
			status: Nullable(Type.String()),
			amountDue: Type.Number(),
			amountPaid: Type.Number(),
			currency: Type.String(),
			created: Timestamp,
			periodStart: Timestamp,
			periodEnd: Timestamp,
			hostedInvoiceUrl: Nullable(Type.String()),
			invoicePdf: Nullable(Type.String()),
			total: Type.Number(),
			paid: Type.Boolean(),
		}),
	),
	hasUnpaidInvoices: Type.Boolean(),
})

const tags = ['billing']
const config: FastifyContextConfig = { auth: 'session', errors: [400, 404, 503] }
/** Whoever has not paid must be able to. */
const writing: FastifyContextConfig = { ...config, evenDisabled: true }

export interface BillingOptions {
	pool: Pool
	publicUrl: string
	/** undefined: nobody pays here. */
	stripe: Stripe | undefined
}

export const billing: FastifyPluginAsyncTypebox<BillingOptions> = async (
	app,
	{ pool, publicUrl, stripe },
) => {
	app.post(
		'/users/@me/projects/:id/checkout',
		{
			config: writing,
			schema: {
				tags,
				summary: 'Subscribe: answers the address of the payment page',
				params: ProjectParams,
				querystring: Type.Object({ currency: Type.Optional(Type.Enum([...currencies])) }),
				response: { 200: Link },
			},
		},
		async ({ project, query: { currency } }) => {
			const on = enabled(stripe)
			const { priceId } = on.settings
			if (!priceId) throw noPrice()
			const [account] = await accountOf(pool, [project.id])
			if (account?.subscribed) throw subscribedAlready()
			const url = await viaStripe(async () => {
				const customerId = account?.customerId ?? (await customerOf(on, project))
				const returnUrl = `${publicUrl}/`
				return checkoutUrl(on, {
					projectId: project.publicId,
					customerId,
					priceId,
					currency,
					returnUrl,
				})
			})
			return { url }
		},
	)

	app.post(
		'/users/@me/projects/:id/billing-portal',
		{
			config: writing,
			schema: {
				tags,
				summary: 'Change how the project is paid: answers the address of the page',
				params: ProjectParams,
				response: { 200: Link },
			},
		},
		async ({ project }) => {
			const on = enabled(stripe)
			const [account] = await accountOf(pool, [project.id])
			const customerId = account?.customerId
			if (!customerId) throw noCustomer()
			return { url: await viaStripe(() => portalUrl(on, customerId, `${publicUrl}/`)) }
		},
	)

	app.get(
		'/users/@me/projects/:id/billing-consumption',
		{
			config,
			schema: {
				tags,
				summary: 'What the project uses this month (UTC), and what it comes to',
				params: ProjectParams,
				response: { 200: Consumption },
			},
		},
		async ({ project }) => {
			const on = enabled(stripe)
			const [rows, [account]] = await Promise.all([
				usageStanding(pool, [project.id]),
				accountOf(pool, [project.id]),
			])
			const used = Object.fromEntries(rows.map(({ category, usage }) => [category, usage]))
			const now = new Date()
			const monthStart = (more: number) =>
				new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + more))
			const { customerId, subscriptionId, subscribed } = account ?? {}
			return {
				period: { start: monthStart(0), end: monthStart(1) },
				usage: { total: used['total']!, byCategory: used },
				upcomingInvoice:
					subscribed && customerId && subscriptionId
						? await viaStripe(() => upcomingInvoice(on, customerId, subscriptionId))
						: null,
			}
		},
	)

	app.get(
		'/users/@me/projects/:id/billing-invoices',
		{
			config,
			schema: {
				tags,
				summary: 'Invoices, the newest first',
				description: "Amounts are in the currency's smallest unit.",
				params: ProjectParams,
				response: { 200: Invoices },
			},
		},
		async ({ project }) => {
			const on = enabled(stripe)
			const [account] = await accountOf(pool, [project.id])
			const customerId = account?.customerId
			const invoices = customerId ? await viaStripe(() => invoicesOf(on, customerId)) : []
			return { invoices, hasUnpaidInvoices: invoices.some(({ isUnpaid }) => isUnpaid) }
		},
	)

	async function customerOf(on: Stripe, project: { id: string; publicId: string }) {
		const made = await createCustomer(on, project.publicId)
		const [kept] = await keepCustomer(pool, [project.id, made])
		return kept!.customerId
	}
}

export function enabled(stripe: Stripe | undefined): Stripe {
	if (stripe) return stripe
	throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'There is no billing on this service', {
		details: { resource: 'billing' },
	})
}

const noPrice = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'There is nothing yet to subscribe to', {
		suggestion: 'Whoever runs this service sets STRIPE_PRICE_ID.',
	})
const subscribedAlready = () =>
	new ApiError(400, 'BAD_REQUEST', 'This project has a subscription already', {
		suggestion: 'Change it with POST /users/@me/projects/{id}/billing-portal.',
	})
const noCustomer = () =>
	new ApiError(400, 'BAD_REQUEST', 'Nobody pays for this project yet', {
		suggestion: 'Subscribe with POST /users/@me/projects/{id}/checkout.',
	})
