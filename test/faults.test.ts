import { randomInt } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { apiKilledAfterCommit } from '../bench/faults/fault-dispatch.ts'
import { drill } from '../bench/faults/fault-drill.ts'
import { type DrillProvider, resendProvider, smtpProvider } from '../bench/faults/fault-provider.ts'

// The drill of `npm run bench faults`, small: each brings its own servers and processes, so they take
// turns. What is wrong comes again with its seed, as far as the machine has a part in it.

async function drilled(t: ExecutionContext, provider: () => Promise<DrillProvider>, seed: number) {
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

test.serial(
	'over SMTP, whatever of ours is killed, stopped or slowed, nothing is lost, repeated unmarked, stuck or miscounted',
	async (t) => void (await drilled(t, smtpProvider, 2049)),
)

test.serial('nor over Resend, where nothing stays uncertain or is repeated at all', async (t) => {
	const { uncertain, repeatedAndMarked } = await drilled(t, resendProvider, 418)
	t.deepEqual({ uncertain, repeatedAndMarked }, { uncertain: 0, repeatedAndMarked: 0 })
})

test.serial('nor whatever else may come', async (t) => {
	const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
	await drilled(t, seed % 2 === 0 ? smtpProvider : resendProvider, seed)
})

test.serial(
	'mail of an API that was killed after its commit is delivered within three seconds',
	async (t) => {
		const servers = {
			databaseUrl: process.env['DATABASE_URL']!,
			temporalAddress: process.env['TEMPORAL_ADDRESS']!,
		}
		for (const delayMs of await apiKilledAfterCommit(servers, 2))
			t.true(delayMs <= 3000, `${delayMs} ms`)
	},
)
