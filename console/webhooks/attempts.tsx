import type { WebhookDeliveryDetail } from '../../client/index.ts'
import { Code } from '../parts/copy.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { isAccepted, outcomeInWords } from './outcome.ts'

/** The latest tries that are kept. */
const mostKept = 20

/** Every try at a delivery, oldest first, with the answer of the endpoint. */
export function Attempts({ delivery }: { delivery: WebhookDeliveryDetail }) {
	const { attempts, status } = delivery
	if (attempts.length === 0)
		return (
			<p>
				{status === 'HELD'
					? 'The endpoint was disabled when this happened. It is kept until you deliver or replay it.'
					: 'There was no try yet.'}
			</p>
		)
	return (
		<>
			{attempts.length >= mostKept && <p>These are the latest {mostKept} tries.</p>}
			<Timeline
				moments={attempts.map((attempt, index) => ({
					at: attempt.at,
					title: outcomeInWords(attempt),
					tone: isAccepted(attempt) ? 'good' : 'bad',
					detail: (
						<>
							{attempt.status !== null && attempt.error}
							{attempt.answer && <Code name={`answer ${index + 1}`} text={attempt.answer} />}
						</>
					),
				}))}
			/>
		</>
	)
}
