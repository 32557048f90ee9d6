/** What a process counts of its work while it is at it. Labels are words of ours, never anybody's data. */
export interface Meter {
	/** A request was answered; `route` is its pattern. */
	answered(method: string, route: string, status: number, seconds: number): void
	/** Mails were accepted: they are in the ledger, and will be delivered or visibly not. */
	accepted(route: string, mails: number): void
	/** A provider was asked to take mails, and this is its answer for each of them. */
	handedOver(provider: string, outcomes: string[], seconds: number): void
	/** A mail came to a state in the ledger in which it stays, or in which it is in doubt. */
	settled(status: string): void
	/** A figure that somebody else has, asked for when it is looked at. */
	watch(name: string, help: string, read: () => number): void
}

const nothing = () => {}

/** Counts nothing until somebody looks: a process without METRICS_PORT pays for an empty call. */
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
