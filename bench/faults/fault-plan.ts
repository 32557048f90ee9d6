import { randomFrom } from '../../test/helpers/random.ts'

const processes = ['api', 'worker', 'temporal', 'postgres'] as const
const blows = ['killed', 'restarted', 'stopped', 'slowed'] as const
export type ProcessName = (typeof processes)[number]
export type Blow = (typeof blows)[number]

const machineFaults = [
	...processes.flatMap((name) => blows.map((blow) => `${name} ${blow}` as const)),
	'a session of postgres killed',
	'disk full',
	'clock ahead',
	'clock behind',
] as const
export const providerFaults = [
	'refuses connections',
	'falls silent',
	'defers',
	'rejects',
	'throttles',
	'hangs up before the dot',
	'hangs up at the dot',
	'takes and hangs up',
	'hangs up after the answer',
	'answers late',
] as const

export type MachineFault = (typeof machineFaults)[number]
export type ProviderFault = (typeof providerFaults)[number]

export interface Strike<Fault> {
	atMs: number
	forMs: number
	fault: Fault
}

export interface Plan {
	machine: Strike<MachineFault>[]
	provider: Strike<ProviderFault>[]
}

/**
 * The faults and their times, the same for the same seed. They are dealt like cards, so that each occurs
 * before any occurs again. Our faults and the provider's overlap at random.
 */
export function planOf(
	seed: number,
	{ seconds, longestMs }: { seconds: number; longestMs: number },
	without: MachineFault[],
): Plan {
	return {
		machine: deal(
			machineFaults.filter((fault) => !without.includes(fault)),
			seed,
		),
		provider: deal(providerFaults, seed ^ 0x5eed),
	}

	function deal<Fault>(kinds: readonly Fault[], ownSeed: number) {
		const random = randomFrom(ownSeed)
		const strikes: Strike<Fault>[] = []
		let deck: Fault[] = []
		for (let atMs = 1000; ;) {
			if (deck.length === 0) deck = shuffled(kinds, random)
			const forMs = 300 + random.below(longestMs)
			if (atMs + forMs > seconds * 1000) return strikes
			strikes.push({ atMs, forMs, fault: deck.pop()! })
			atMs += forMs + 500 + random.below(longestMs)
		}
	}
}

/** Without an inconsistent comparison, so that every engine gives the same order for a seed. */
function shuffled<T>(items: readonly T[], random: ReturnType<typeof randomFrom>) {
	const rest = [...items]
	return items.map(() => rest.splice(random.below(rest.length), 1)[0]!)
}
