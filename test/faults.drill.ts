import { randomInt } from 'node:crypto'
import test from 'ava'
import { apiKilledAfterCommit } from '../bench/faults/fault-dispatch.ts'
import { resendProvider, smtpProvider } from '../bench/faults/fault-provider.ts'
import { drilled } from './helpers/drilled.ts'

// With nothing beside them: an API that others keep busy refuses requests, which looks like a fault of ours.

test.serial(
	'over SMTP, killing, stopping or slowing our processes loses, miscounts or silently repeats nothing',
	async (t) => void (await drilled(t, smtpProvider, 2049)),
)

test.serial(
	'over Resend nothing is lost either, and nothing stays uncertain or is repeated at all',
	async (t) => {
		const { uncertain, repeatedAndMarked } = await drilled(t, resendProvider, 418)
		t.deepEqual({ uncertain, repeatedAndMarked }, { uncertain: 0, repeatedAndMarked: 0 })
	},
)

test.serial('other faults lose nothing either', async (t) => {
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
