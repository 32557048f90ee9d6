import { isStripeError, type Stripe } from './client.ts'
import { underKey } from './customer.ts'

interface Usage {
	/** Stripe recognises repeated usage by it. */
	identifier: string
	customerId: string
	value: number
	/** In seconds; defaults to now. */
	timestamp?: number
}

/**
 * Returns a function that reports usage to the subscription's meter. null: a flat price without a meter.
 */
export async function meterOf({ sdk, priceId }: Stripe) {
	if (!priceId) return null
	const id = (await sdk.prices.retrieve(priceId)).recurring?.meter
	if (!id) return null
	const meter = await sdk.billing.meters.retrieve(id)

	/** A repeated report counts once: Stripe repeats its answer, or says that it has the report already. */
	return async ({ identifier, customerId, value, timestamp }: Usage) => {
		const event = {
			event_name: meter.event_name,
			identifier,
			...(timestamp && { timestamp }),
			payload: {
				[meter.customer_mapping.event_payload_key]: customerId,
				[meter.value_settings.event_payload_key]: `${value}`,
			},
		}
		try {
			// Stripe refuses a known key with another time.
			const key = ['usage', identifier, timestamp].join('/')
			await underKey(key, (idempotencyKey) =>
				sdk.billing.meterEvents.create(event, { idempotencyKey }),
			)
		} catch (error) {
			if (!isDuplicate(error)) throw error
		}
	}
}

/** Not every version has a code for this error, but all have this sentence. */
const isDuplicate = (error: unknown) =>
	isStripeError(error) &&
	error.statusCode === 400 &&
	(error.code === 'duplicate_meter_event' ||
		error.message.includes('already exists with identifier'))
