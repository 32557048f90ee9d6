import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Meter } from './meter.ts'

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** A process's own figures, in a registry. */
export function prometheusMeter(registry: Registry): Meter {
	const registers = [registry]
	const requests = new Histogram({
		name: 'tempost_http_request_duration_seconds',
		help: 'Requests by route and class of status, until the answer was sent or the client disconnected (499).',
		labelNames: ['method', 'route', 'status'] as const,
		buckets,
		registers,
	})
	const accepted = new Counter({
		name: 'tempost_mails_accepted_total',
		help: 'Mails accepted by requests.',
		labelNames: ['route'] as const,
		registers,
	})
	const handovers = new Counter({
		name: 'tempost_mails_handed_over_total',
		help: 'Mails that were handed over to the provider, by its answer; each attempt counts.',
		labelNames: ['provider', 'outcome'] as const,
		registers,
	})
	const calls = new Histogram({
		name: 'tempost_provider_call_duration_seconds',
		help: 'How long the provider took to answer, for a mail or a batch.',
		labelNames: ['provider'] as const,
		buckets,
		registers,
	})
	const settled = new Counter({
		name: 'tempost_mails_settled_total',
		help: 'Mails that this worker settled, by their state in the ledger; UNCERTAIN when they came into doubt.',
		labelNames: ['status'] as const,
		registers,
	})
	return {
		answered(method, route, status, seconds) {
			requests.observe({ method, route, status: classOf(status) }, seconds)
		},
		accepted: (route, mails) => accepted.inc({ route }, mails),
		handedOver(provider, outcomes, seconds) {
			for (const outcome of outcomes) handovers.inc({ provider, outcome })
			calls.observe({ provider }, seconds)
		},
		settled: (status) => settled.inc({ status }),
		watch(name, help, read) {
			const gauge: Gauge = new Gauge({ name, help, registers, collect: () => gauge.set(read()) })
		},
	}
}

const classOf = (status: number) => (status === 499 ? '499' : `${Math.floor(status / 100)}xx`)
