import { poolOf } from '../../db/statement.ts'
import { atRest } from '../at-rest.ts'
import { check, type Verdict } from './fault-check.ts'
import { createJourney } from './fault-journey.ts'
import { load, type Pace } from './fault-load.ts'
import { planOf } from './fault-plan.ts'
import type { DrillProvider } from './fault-provider.ts'
import { type Harm, harm } from './fault-strikes.ts'
import { openWorld } from './fault-world.ts'

export interface DrillOptions extends Pace {
	provider: () => Promise<DrillProvider>
	/** The duration of the faults in total, and the limit for each. */
	seconds: number
	longestMs: number
	/** Whether Postgres gets a disk of its own that may be filled. */
	withDisk: boolean
	log(line: string): void
}

/** The time limit for coming to rest. */
const settlingMs = 90_000

/** Mixed load and mixed faults, both determined by the seed; then calm, and a check of everything. */
export async function drill(options: DrillOptions): Promise<Verdict> {
	const { log } = options
	const world = await openWorld(await options.provider(), options.withDisk)
	try {
		const { api, worker } = world.stack
		await Promise.all([api.start(), worker.start()])
		if (options.withDisk && !world.disk) log('no disk may be mounted here: none is filled')
		const plan = planOf(options.seed, options, world.disk ? [] : ['disk full'])
		const harms: Harm[] = []
		await createJourney(world.stack)
		const over = new AbortController()
		const loading = load(world, options, over.signal)
		await harm(world, plan, harms, log).finally(() => over.abort())
		const made = await loading
		const quietAt = Date.now()
		const stuck = await atRest(await poolOf(world.stack.orm.em), settlingMs)
		const verdict = await check(world, made, harms, stuck, Date.now() - quietAt)
		for (const what of verdict.findings.slice(0, 30)) log(what)
		if (verdict.findings.length > 0) {
			log(`--- api\n${api.output().slice(-4000)}`)
			log(`--- worker\n${worker.output().slice(-4000)}`)
		}
		return verdict
	} finally {
		await world.close()
	}
}
