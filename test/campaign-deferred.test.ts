import test from 'ava'
import { blocksRead } from './helpers/blocks-read.ts'
import { overSmtp, sendingCampaign } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'
import { scriptedProvider } from './helpers/ledger.ts'

const greylisted = '450 4.2.1 Greylisted, retry after 60 seconds'

test('another try of a deferred mail does not read the mails of its lane that are settled', async (t) => {
	const { send, worker, query, pool, mails } = await overSmtp(t, 2400, {
		faults: [{ at: 'rcpt', recipient: 'user1@', times: 2, reply: greylisted }],
	})
	t.like(await send(worker), { settled: 2399, left: 1 })
	await query('analyze emails')
	await query(`update emails set due_at = now() where status = 'PENDING'`)

	const asked: { name: string; text: string; values: unknown[] }[] = []
	const ask = pool.query.bind(pool)
	Object.assign(pool, {
		query(...given: Parameters<typeof ask>) {
			const [statement] = given as unknown as [(typeof asked)[0]]
			if (statement.name?.includes('campaign')) asked.push(statement)
			return ask(...given)
		},
	})
	t.like(await send(worker), { settled: 0, left: 1 })
	Object.assign(pool, { query: ask })
	t.like(
		(await mails()).find(({ to }) => to === 'user1@example.net'),
		{
			status: 'PENDING',
			attempt: 2,
		},
	)

	const db = await pool.connect()
	t.teardown(() => db.release(true))
	t.true(asked.some(({ name }) => name === 'claim-campaign-slice'))
	for (const { name, text, values } of asked) {
		await db.query('begin')
		const read = await blocksRead(db, text, values)
		await db.query('rollback')
		t.true(read < 100, `${name} read ${read} pages`)
	}
})

test('a mail without a due time, as the release before left it, gets its other try', async (t) => {
	const { send, pool, query, mails } = await sendingCampaign(t, 2)
	const later = { kind: 'DEFERRED', error: '451 not now', retryAfterMs: 60_000 } as const
	const { provider } = scriptedProvider(({ to }, earlier) =>
		to.email === 'user1@example.net' && earlier === 0 ? later : undefined,
	)
	const worker = campaignWorker(pool, provider)
	t.like(await send(worker), { settled: 1, left: 1 })
	await query(`update emails set due_at = null where status = 'PENDING'`)
	t.like(await send(worker), { settled: 1, left: 0 })
	for (const { status } of await mails()) t.is(status, 'SENT')
})
