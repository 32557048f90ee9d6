import pg from 'pg'
import { isOpen } from '../../db/emails/ledger.ts'
import { until } from '../load.ts'
import { check, type Verdict } from './fault-check.ts'
import { createJourney } from './fault-journey.ts'
import { load, type Pace } from './fault-load.ts'
import { planOf } from './fault-plan.ts'
import type { DrillProvider } from './fault-provider.ts'
import { type Harm, harm } from './fault-strikes.ts'
import { openWorld } from './fault-world.ts'

export interface DrillOptions extends Pace {
	provider: () => Promise<DrillProvider>
	/** How long things go wrong, and each of them at most. */
	seconds: number
	longestMs: number
	/** Whether Postgres gets a disk of its own that may be filled. */
	withDisk: boolean
	log(line: string): void
}

/** Until nothing is open that moves by itself, so long at most. */
const settlingMs = 90_000

/** Mixed load and mixed harm, both by the seed; then peace, and an account of everything. */
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
		const stuck = await settle(world.databaseUrl)
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

const open = {
	'mails in the ledger': `select count(*)::int as n from emails e where ${isOpen}`,
	'sends in the queue': 'select count(*)::int as n from queued_sends',
	executions: `select count(*)::int as n from executions where status in ('RUNNING', 'WAITING')`,
	jobs: `select count(*)::int as n from jobs where state in ('waiting', 'active')`,
	campaigns: `select count(*)::int as n from campaigns where status = 'SENDING'`,
	'opens and clicks': 'select count(*)::int as n from engagements',
	'things to tell Temporal': 'select count(*)::int as n from outbox where done_at is null',
}

/** Returns what moves no more. */
async function settle(connectionString: string): Promise<string[]> {
	const db = new pg.Client({ connectionString })
	await db.connect()
	const stuck: string[] = []
	const givenUpAt = Date.now() + settlingMs
	try {
		for (const [what, sql] of Object.entries(open)) {
			let left = 0
			const isNone = async () => {
				left = (await db.query<{ n: number }>(sql)).rows[0]!.n
				return left === 0
			}
			if ((await isNone()) || (await until(isNone, givenUpAt - Date.now(), 100))) continue
			stuck.push(`${left} ${what}`)
		}
		return stuck
	} finally {
		await db.end()
	}
}
