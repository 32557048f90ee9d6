import { Type } from 'typebox'
import { UrlOr } from '../../db/environment.ts'

export interface StripeSettings {
	secretKey: string
	priceId: string | undefined
	base: string
}

const Text = Type.Optional(Type.String())

export const StripeEnvironment = {
	STRIPE_SECRET_KEY: Text,
	STRIPE_PRICE_ID: Text,
	STRIPE_API_BASE: UrlOr('https://api.stripe.com'),
}

interface Environment {
	STRIPE_SECRET_KEY?: string
	STRIPE_PRICE_ID?: string
	STRIPE_API_BASE: string
}

/** undefined: this service has no billing. */
export const stripeSettings = (env: Environment): StripeSettings | undefined =>
	env.STRIPE_SECRET_KEY === undefined
		? undefined
		: {
				secretKey: env.STRIPE_SECRET_KEY,
				priceId: env.STRIPE_PRICE_ID,
				base: env.STRIPE_API_BASE.replace(/\/+$/, ''),
			}
