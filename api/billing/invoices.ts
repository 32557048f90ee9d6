import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig } from 'fastify'
import { invoicesOf, upcomingInvoice } from '../../outside/stripe/invoices.ts'
import { accountOf } from '../../db/billing/billing-accounts.ts'
import { usageCategories } from '../../db/billing/usage-count.ts'
import { usageStanding } from '../../db/billing/usage-standing.ts'
import { ProjectParams } from '../projects/projects.ts'
import { Component, Nullable, Timestamp } from '../schemas.ts'
import { type BillingOptions, enabled } from './billing.ts'
import { viaStripe } from './stripe-fault.ts'

const Consumption = Component('BillingConsumption', {
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
const Invoices = Component('Invoices', {
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
const config: FastifyContextConfig = { auth: 'session', errors: [404, 503] }

/** The usage of a project and its price. */
export const invoices: FastifyPluginAsyncTypebox<BillingOptions> = async (
	app,
	{ pool, stripe },
) => {
	app.addHook('preValidation', async () => void enabled(stripe))
	app.get(
		'/users/@me/projects/:id/billing-consumption',
		{
			config,
			schema: {
				tags,
				summary: 'Get the usage of this month (UTC), and its price',
				description:
					'Counts mail as its limits do, so mail that was accepted and still waits is included. Only sent mail is billed, and only the invoice of the month is final.',
				params: ProjectParams,
				response: { 200: Consumption },
			},
		},
		async ({ em, project }) => {
			const on = enabled(stripe)
			const [rows, account] = await Promise.all([
				usageStanding(pool, { projectId: project.id }),
				accountOf(em, project.id),
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
				summary: 'List invoices, newest first',
				description: "Amounts are in the currency's smallest unit.",
				params: ProjectParams,
				response: { 200: Invoices },
			},
		},
		async ({ em, project }) => {
			const on = enabled(stripe)
			const account = await accountOf(em, project.id)
			const customerId = account?.customerId
			const invoices = customerId ? await viaStripe(() => invoicesOf(on, customerId)) : []
			return { invoices, hasUnpaidInvoices: invoices.some(({ isUnpaid }) => isUnpaid) }
		},
	)
}
