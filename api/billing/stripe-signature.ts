import { isStripeError, type Stripe } from '../../outside/stripe/client.ts'
import { isOfNow, refusals, toleranceSeconds } from '../requests/signed-body.ts'

/** Checks the header Stripe-Signature over the raw body, as the SDK does and a little more strictly. */
export function verifyStripe(
	{ sdk }: Stripe,
	secret: string,
	header: string | string[] | undefined,
	body: Buffer,
) {
	if (typeof header !== 'string') throw unsigned()
	try {
		sdk.webhooks.signature!.verifyHeader(body, header, secret, toleranceSeconds)
	} catch (error) {
		// For an empty `v1=` it throws another error type.
		const isLate = isStripeError(error) && error.message.startsWith('Timestamp')
		throw isLate ? untimely() : forged()
	}
	// The SDK accepts signatures from the future, and reads the last of several times.
	const times = [...header.matchAll(/(?:^|,)t=([^,]*)/g)]
	if (times.length !== 1 || !isOfNow(times[0]![1]!)) throw untimely()
}

const { unsigned, untimely, forged } = refusals(
	'Sign with the secret of this endpoint (whsec_…), and check the clock of the sender.',
)
