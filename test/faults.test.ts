import test from 'ava'
import {
	apiKilledAfterCommit,
	postgresRestarted,
	temporalStopped,
	type Verdict,
	workerKilledOverResend,
	workerKilledOverSmtp,
} from '../bench/scenarios.ts'

// The drills of `npm run bench faults`, small. They take turns: each brings its own processes.

const servers = {
	databaseUrl: process.env['DATABASE_URL']!,
	temporalAddress: process.env['TEMPORAL_ADDRESS']!,
	testServerPath: undefined,
}
const whole = { lost: 0, open: 0, halfDone: 0 } satisfies Partial<Verdict>

test.serial(
	'a worker killed again and again over SMTP loses nothing, and marks what it may repeat',
	async (t) => {
		const verdict = await workerKilledOverSmtp(servers, { sends: 200, kills: 3 })
		t.like(verdict, { ...whole, accepted: 200, refused: 0 })
		t.is(verdict.repeated, verdict.repeatedAndMarked)
		t.true(verdict.repeated <= verdict.doubted)
	},
)

test.serial(
	'a worker killed again and again over Resend loses nothing and repeats nothing',
	async (t) => {
		const verdict = await workerKilledOverResend(servers, { sends: 200, kills: 3 })
		t.like(verdict, { ...whole, accepted: 200, refused: 0, repeated: 0 })
	},
)

test.serial(
	'while Temporal is away every request is taken, and all is delivered once on its return',
	async (t) => {
		const verdict = await temporalStopped(servers, 100, 4)
		t.like(verdict, { ...whole, accepted: 100, refused: 0, repeated: 0 })
	},
)

test.serial('a restart of Postgres costs refusals, never a half-done send', async (t) => {
	const verdict = await postgresRestarted(servers, 150, 2)
	t.like(verdict, whole)
	t.is(verdict.accepted + verdict.refused, 150)
	t.is(verdict.repeated, verdict.repeatedAndMarked)
})

test.serial(
	'mail of an API that was killed after its commit is delivered within three seconds',
	async (t) => {
		for (const delayMs of await apiKilledAfterCommit(servers, 2))
			t.true(delayMs <= 3000, `${delayMs} ms`)
	},
)
