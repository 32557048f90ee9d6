import type { ExecutionContext } from 'ava'
import { drill } from '../../bench/faults/fault-drill.ts'
import type { DrillProvider } from '../../bench/faults/fault-provider.ts'

/**
 * The drill of `npm run bench faults`, small. It brings its own servers and processes, so drills take
 * turns. The same seed brings the same faults, as far as the machine has no part in them.
 */
export async function drilled(
	t: ExecutionContext,
	provider: () => Promise<DrillProvider>,
	seed: number,
) {
	t.log(`FUZZ_SEED=${seed}`)
	const verdict = await drill({
		provider,
		seed,
		seconds: 10,
		longestMs: 1500,
		recipients: 200,
		rows: 300,
		patienceMs: 5000,
		withDisk: false,
		log: (line) => t.log(line),
	})
	t.deepEqual(verdict.findings, [])
	t.true(verdict.mails > 0)
	return verdict
}
