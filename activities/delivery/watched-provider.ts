import type { Outcome, Provider, Withdrawn } from '../../outside/providers/provider.ts'
import { meter } from '../../outside/telemetry/meter.ts'
import { tracer } from '../../outside/telemetry/tracer.ts'

/**
 * Wraps a provider: counts and times all its answers. Single mails and batches get spans of their own;
 * single mails of a campaign would be too many.
 */
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
	const ifHanded = (outcome: Outcome | Withdrawn) => (outcome.kind === 'WITHDRAWN' ? [] : [outcome])
	const all = (outcomes: Outcome[]) => outcomes
	const spanned = (emailId: string, call: () => Promise<Outcome>) =>
		tracer.span(
			`deliver ${name}`,
			{ kind: 'client', attributes: { 'tempost.email.id': emailId } },
			() => watched(call, one),
		)
	return {
		...provider,
		deliver: (...mail) => spanned(mail[0].emailId, () => provider.deliver(...mail)),
		deliverEncoded: (mail) => spanned(mail.emailId, () => provider.deliverEncoded(mail)),
		...(deliverReady && { deliverReady: (mail) => watched(() => deliverReady(mail), ifHanded) }),
		...(deliverBatch && {
			deliverBatch: (...mails) =>
				tracer.span(
					`deliver ${name} batch`,
					{ kind: 'client', attributes: { 'tempost.mails': mails[0].length } },
					() => watched(() => deliverBatch(...mails), all),
				),
		}),
	}
}
