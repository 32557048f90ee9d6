/** The figures that a process counts while it works. Labels are our own words, never personal data. */
export interface Meter {
	/** A request was answered; `route` is its pattern. */
	answered(method: string, route: string, status: number, seconds: number): void
	/** Mails were accepted: they are in the ledger, and will be delivered or visibly not. */
	accepted(route: string, mails: number): void
	/** The outcomes of one hand-over to a provider, one for each mail. */
	handedOver(provider: string, outcomes: string[], seconds: number): void
	/** A mail got a status in the ledger that is final or in doubt. */
	settled(status: string): void
	/** Registers a figure that is read when metrics are read. */
	watch(name: string, help: string, read: () => number): void
}

const nothing = () => {}

/** Counts nothing unless metrics are on: without METRICS_PORT each call is an empty function. */
export let meter: Meter = {
	answered: nothing,
	accepted: nothing,
	handedOver: nothing,
	settled: nothing,
	watch: nothing,
}

export function measureBy(real: Meter) {
	meter = real
}
