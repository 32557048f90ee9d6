import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifyRequest } from 'fastify'
import type { Pool } from 'pg'
import { isCustomerLost, type Stripe } from '../../outside/stripe/client.ts'
import {
	checkoutUrl,
	createCustomer,
	expireCheckouts,
	portalUrl,
} from '../../outside/stripe/customer.ts'
import { currencies } from '../../db/billing/billing-account.ts'
import { accountOf, keepCustomer, payerOf } from '../../db/billing/billing-accounts.ts'
import { ofLiving } from '../../db/projects/project-removal.ts'
import { ApiError, notFound } from '../errors.ts'
import { administeringAccount } from '../projects/administering.ts'
import { ProjectParams } from '../projects/projects.ts'
import { viaStripe } from './stripe-fault.ts'
import { Component } from '../schemas.ts'

const Link = Component('BillingLink', { url: Type.String() })

const tags = ['billing']
/** A disabled project must still be able to pay. */
const config: FastifyContextConfig = {
	auth: 'session',
	evenDisabled: true,
	errors: [400, 404, 503],
}

export interface BillingOptions {
	pool: Pool
	publicUrl: string
	/** undefined: billing is off. */
	stripe: Stripe | undefined
}

export const billing: FastifyPluginAsyncTypebox<BillingOptions> = async (
	app,
	{ pool, publicUrl, stripe },
) => {
	app.addHook('preValidation', async () => void enabled(stripe))
	app.post(
		'/users/@me/projects/:id/checkout',
		{
			config,
			schema: {
				tags,
				summary: 'Start a checkout',
				description:
					'Open the address in a browser. The subscription starts when the payment page has been completed.',
				params: ProjectParams,
				querystring: Type.Object({
					currency: Type.Optional(
						Type.Enum([...currencies], { description: 'The currency of the subscription.' }),
					),
				}),
				response: { 200: Link },
			},
		},
		async (request) => {
			const {
				em,
				project,
				query: { currency },
			} = request
			const on = enabled(stripe)
			const { priceId } = on
			if (!priceId) throw noPrice()
			const account = await accountOf(em, project.id)
			if (account?.subscribed) throw subscribedAlready()
			const pageOf = async (customerId: string) => {
				const page = await checkoutUrl(on, {
					projectId: project.publicId,
					customerId,
					subscriptionId: account?.subscriptionId ?? null,
					priceId,
					currency,
					returnUrl: `${publicUrl}/`,
				})
				await stayOpen(on, project.publicId, customerId)
				return page
			}
			const known = account?.customerId ?? null
			const url = await viaStripe(async () => {
				try {
					if (known !== null) return await pageOf(known)
				} catch (error) {
					if (!isCustomerLost(error)) throw error
				}
				return pageOf(await newCustomer(on, request, known))
			})
			return { url }
		},
	)

	app.post(
		'/users/@me/projects/:id/billing-portal',
		{
			config,
			schema: {
				tags,
				summary: 'Open the billing portal',
				description:
					'Open the address in a browser. It works only for a project that has a subscription.',
				params: ProjectParams,
				response: { 200: Link },
			},
		},
		async ({ em, project }) => {
			const on = enabled(stripe)
			const account = await accountOf(em, project.id)
			const customerId = account?.customerId
			if (!customerId) throw noCustomer()
			return { url: await viaStripe(() => portalUrl(on, customerId, `${publicUrl}/`)) }
		},
	)

	/**
	 * While this page was created, the project may have subscribed or been deleted. That closes open pages,
	 * but may have missed this one.
	 */
	async function stayOpen(on: Stripe, projectId: string, customerId: string) {
		const payer = await ofLiving(async () => {
			const [found] = await payerOf(pool, { publicId: projectId, customerId })
			return found
		})
		if (payer && !payer.subscribed) return
		await expireCheckouts(on, customerId)
		throw payer ? subscribedAlready() : notFound('project', projectId)
	}

	/** In place of a lost customer, if there was one: without it, nobody could subscribe any more. */
	async function newCustomer(on: Stripe, request: FastifyRequest, lostId: string | null) {
		const customerId = await createCustomer(on, request.project.publicId, lostId)
		const [kept] = await administeringAccount(request, (_, db, projectId) =>
			keepCustomer(db, { projectId, customerId, lostId }),
		)
		return kept!.customerId
	}
}

/** Without billing, its routes answer the same to any request. */
export function enabled(stripe: Stripe | undefined): Stripe {
	if (stripe) return stripe
	throw new ApiError(404, 'RESOURCE_NOT_FOUND', 'Billing is turned off on this installation', {
		details: { resource: 'billing' },
	})
}

const noPrice = () =>
	new ApiError(503, 'EXTERNAL_SERVICE_ERROR', 'No price has been set up yet', {
		suggestion: 'The operator of this installation has to set STRIPE_PRICE_ID.',
	})
const subscribedAlready = () =>
	new ApiError(400, 'BAD_REQUEST', 'This project already has a subscription', {
		suggestion: 'Change it with POST /users/@me/projects/{id}/billing-portal.',
	})
const noCustomer = () =>
	new ApiError(400, 'BAD_REQUEST', 'This project has no Stripe customer yet', {
		suggestion: 'Subscribe with POST /users/@me/projects/{id}/checkout.',
	})
