import Type from 'typebox'
import { type Stripe, StripeError } from './client.ts'

const Price = Type.Object({
	recurring: Type.Object({ meter: Type.Optional(Type.Union([Type.String(), Type.Null()])) }),
})
const Meter = Type.Object({
	event_name: Type.String(),
	customer_mapping: Type.Object({ event_payload_key: Type.String() }),
	value_settings: Type.Object({ event_payload_key: Type.String() }),
})

interface Usage {
	/** By it Stripe knows the same usage again. */
	identifier: string
	customerId: string
	value: number
	/** In seconds; now, if it does not say. */
	timestamp?: number
}

/** The meter of what is subscribed to. null: it costs the same however much is sent. */
export async function meterOf(stripe: Stripe) {
	const { priceId } = stripe.settings
	if (!priceId) return null
	const price = await stripe.get(`/v1/prices/${encodeURIComponent(priceId)}`, {}, Price)
	const id = price.recurring.meter
	if (!id) return null
	const meter = await stripe.get(`/v1/billing/meters/${encodeURIComponent(id)}`, {}, Meter)

	/** Told again, it counts once: Stripe answers as it did, or that it has it already. */
	return async ({ identifier, customerId, value, timestamp }: Usage) => {
		const event = {
			event_name: meter.event_name,
			identifier,
			timestamp,
			payload: {
				[meter.customer_mapping.event_payload_key]: customerId,
				[meter.value_settings.event_payload_key]: value,
			},
		}
		try {
			await stripe.post('/v1/billing/meter_events', event, Type.Object({}), `usage/${identifier}`)
		} catch (error) {
			if (!(error instanceof StripeError && isDuplicate(error))) throw error
		}
	}
}

/** That has no code of its own in every version, but a sentence. */
const isDuplicate = ({ status, code, message }: StripeError) =>
	status === 400 &&
	(code === 'duplicate_meter_event' || message.includes('already exists with identifier'))
