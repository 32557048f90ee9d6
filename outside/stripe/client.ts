import type Sdk from 'stripe'
import type { StripeSettings } from './settings.ts'

/** Pins Stripe's API version, whatever version the account has. */
const apiVersion = '2026-10-28.endive'
const timeoutMs = 10_000

export interface Stripe {
	sdk: Sdk
	/** The price of a subscription. undefined: subscribing is off, and no usage is reported. */
	priceId: string | undefined
}

/** The SDK takes 35 MB of memory, so it is loaded only if billing is on. */
export async function createStripe({ secretKey, priceId, base }: StripeSettings): Promise<Stripe> {
	const { default: Sdk } = await import('stripe')
	const sdk = new Sdk(secretKey, {
		apiVersion,
		timeout: timeoutMs,
		// Callers retry what needs retrying, with the same idempotency key.
		maxNetworkRetries: 0,
		telemetry: false,
		httpClient: Sdk.createFetchHttpClient(fetchFrom(base)),
	})
	return { sdk, priceId }
}

/** The SDK accepts only a host; STRIPE_API_BASE may have a path as well. */
function fetchFrom(base: string): typeof fetch {
	return (input, init) => {
		const { pathname, search } = new URL(input as string)
		return fetch(`${base}${pathname}${search}`, { ...init, redirect: 'error' })
	}
}

/** Stripe refused or did not answer. Checked by type name, because the class is part of the SDK. */
export const isStripeError = (error: unknown): error is Sdk.errors.StripeError =>
	error instanceof Error && /^Stripe\w+Error$/.test(String((error as { type?: unknown }).type))

/** The customer of the request was deleted, or belongs to another Stripe account or to test mode. */
export const isCustomerLost = (error: unknown) =>
	isStripeError(error) && error.code === 'resource_missing' && error.param === 'customer'

/** The key is not valid, may not do this, or asks too often. */
const turnedAway = [401, 403, 429]
const mayPass = [...turnedAway, 409]

/** Stripe did not look at what the request asks for, and may do so at a later try. */
export const isTurnedAway = (error: unknown) =>
	isStripeError(error) && turnedAway.includes(error.statusCode ?? 0)

/** A fault of Stripe's own with one request. Others may succeed. */
export const isInternal = (error: unknown) => isStripeError(error) && (error.statusCode ?? 0) >= 500

/** Stripe would refuse this request at every retry. */
export const isRefusal = (error: unknown): error is Sdk.errors.StripeError => {
	const status = isStripeError(error) ? error.statusCode : undefined
	return status !== undefined && status >= 400 && status < 500 && !mayPass.includes(status)
}
