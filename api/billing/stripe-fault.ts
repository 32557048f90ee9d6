import { StripeError } from '../../activities/stripe/client.ts'
import { ApiError } from '../errors.ts'

/** What Stripe would not do is nothing that the caller could have asked for otherwise. */
export async function viaStripe<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work()
	} catch (error) {
		if (!(error instanceof StripeError)) throw error
		throw new ApiError(
			503,
			'EXTERNAL_SERVICE_ERROR',
			error.isRefusal ? 'The payment provider refused' : 'The payment provider does not answer',
			{
				cause: error,
				retryAfterSeconds: 30,
				suggestion: error.isRefusal
					? 'Whoever runs this service finds the reason in its log.'
					: 'Try again in a moment; nothing was changed.',
			},
		)
	}
}
