import { isRefusal, isStripeError } from '../../outside/stripe/client.ts'
import { ApiError } from '../errors.ts'

/** A refusal by Stripe is not a mistake of the caller. */
export async function viaStripe<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		if (!isStripeError(error)) throw error
		throw new ApiError(
			503,
			'EXTERNAL_SERVICE_ERROR',
			isRefusal(error)
				? 'The payment provider refused the request'
				: 'The payment provider did not answer',
			{
				cause: error,
				retryAfterSeconds: 30,
				suggestion: isRefusal(error)
					? 'The operator of this installation finds the reason in the log.'
					: 'Try again in a moment; nothing was changed.',
			},
		)
	}
}
