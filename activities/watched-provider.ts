import { meter } from '../telemetry/meter.ts'
import type { Outcome, Provider } from './providers/provider.ts'

/** The same provider, with all its answers counted and timed. */
export function watchedProvider(provider: Provider): Provider {
	const { name, deliverReady, deliverBatch } = provider

	async function watched<T>(call: () => Promise<T>, outcomesOf: (answer: T) => Outcome[]) {
		const startedAt = performance.now()
		const answer = await call()
		const outcomes = outcomesOf(answer).map(({ kind }) => kind)
		meter.handedOver(name, outcomes, (performance.now() - startedAt) / 1000)
		return answer
	}

	const one = (outcome: Outcome) => [outcome]
	const all = (outcomes: Outcome[]) => outcomes
	return {
		...provider,
		deliver: (...mail) => watched(() => provider.deliver(...mail), one),
		...(deliverReady && { deliverReady: (mail) => watched(() => deliverReady(mail), one) }),
		...(deliverBatch && { deliverBatch: (...mails) => watched(() => deliverBatch(...mails), all) }),
	}
}
