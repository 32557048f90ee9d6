import { Client, Connection } from '@temporalio/client'
import test from 'ava'
import { mostShortPasses } from '../activities/delivery/deliveries.ts'
import type { Outcome } from '../outside/providers/provider.ts'
import { client, until } from '../bench/load.ts'
import { startSink } from '../bench/sink.ts'
import { prepareStack } from '../bench/stack.ts'
import { Email } from '../db/emails/email.ts'
import { claimOf, scriptedProvider, setupLedger } from './helpers/ledger.ts'

// The first pass over the mails of a run is part of the workflow's task, and must be short.

const deferred = (retryAfterMs: number) => () =>
	({ kind: 'DEFERRED', error: 'Please come back later', retryAfterMs }) as const

test('a first pass settles mails that the provider takes, and ends their claim', async (t) => {
	const { send, claim, worker, mail, execute } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const { deliverClaimAtOnce } = await worker(scriptedProvider().provider)
	t.like(await deliverClaimAtOnce(claimOf((await claim())[0])), { settled: 1, left: 0 })
	t.is((await mail(id!)).status, 'SENT')
	t.deepEqual(await execute('select 1 from outbox union all select 1 from queued_sends'), [])
})

test('a first pass leaves a short wait to the next pass, and the run keeps its place until then', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const shortWaitMs = 4000
	const { provider, handed } = scriptedProvider((_, earlier) =>
		earlier === 0 ? deferred(shortWaitMs)() : undefined,
	)
	const { deliverClaimAtOnce, deliverClaim } = await worker(provider)
	const began = performance.now()
	t.like(await deliverClaimAtOnce(claimId), { settled: 0, left: 1, waitMs: 0 })
	t.true(performance.now() - began < shortWaitMs)
	t.is((await execute('select 1 from outbox')).length, 1)
	t.like(await deliverClaim(claimId), { settled: 1, left: 0 })
	t.is(handed.length, 2)
	t.deepEqual(await execute('select 1 from outbox'), [])
})

test('a first pass hands a long wait to the workflow, and the run gives its place away', async (t) => {
	const { send, claim, worker, execute } = await setupLedger(t)
	await send(['ann@example.org'])
	const { deliverClaimAtOnce } = await worker(scriptedProvider(deferred(60_000)).provider)
	const rest = await deliverClaimAtOnce(claimOf((await claim())[0]))
	t.like(rest, { settled: 0, left: 1, because: 'Please come back later' })
	t.true(rest!.waitMs > 50_000)
	t.deepEqual(await execute('select 1 from outbox'), [])
})

test('a provider that does not answer holds up a limited number of first passes', async (t) => {
	const { send, claim, worker, newProject, execute } = await setupLedger(t)
	const answers = Promise.withResolvers<Outcome>()
	const { provider, handed } = scriptedProvider(() => answers.promise)
	const { deliverClaimAtOnce } = await worker(provider)
	for (let i = 0; i <= mostShortPasses; i++)
		await send(['ann@example.org'], (await newProject()).id)
	const claims = (await claim()).map(claimOf)
	t.is(claims.length, mostShortPasses + 1)
	const last = claims.pop()!
	const passes = claims.map(deliverClaimAtOnce)
	t.is(await deliverClaimAtOnce(last), null)
	answers.resolve({ kind: 'SENT', providerMessageId: 'q1' })
	for (const rest of await Promise.all(passes)) t.like(rest, { settled: 1, left: 0 })
	t.is(handed.length, mostShortPasses)
	t.is((await execute('select 1 from queued_sends')).length, 1)
	t.like(await deliverClaimAtOnce(last), { settled: 1, left: 0 })
})

test('a pass that is longer than a workflow’s task may be goes on, and an activity waits for its end', async (t) => {
	const { send, claim, worker, mail } = await setupLedger(t)
	const [id] = await send(['ann@example.org'])
	const claimId = claimOf((await claim())[0])
	const answer = Promise.withResolvers<Outcome>()
	const { provider, handed } = scriptedProvider(() => answer.promise)
	const { deliverClaimAtOnce, deliverClaim } = await worker(provider)
	t.like(await deliverClaimAtOnce(claimId), { left: 1, waitMs: 0, worker: 'worker' })
	t.is((await mail(id!)).status, 'SENDING')
	// Temporal may have lost the task and started it again.
	const again = deliverClaimAtOnce(claimId)
	const rest = deliverClaim(claimId)
	answer.resolve({ kind: 'SENT', providerMessageId: 'q1' })
	t.like(await again, { settled: 1, left: 0 })
	t.like(await rest, { settled: 1, left: 0 })
	t.like(await mail(id!), { status: 'SENT', attempt: 1 })
	t.is(handed.length, 1)
})

test('a slow mail server stays with its worker, which finishes the mail before it stops', async (t) => {
	const sink = await startSink(['--delay', '5000'])
	t.teardown(sink.close)
	const temporalAddress = process.env['TEMPORAL_ADDRESS']!
	const stack = await prepareStack(
		{ databaseUrl: process.env['DATABASE_URL']!, temporalAddress },
		{ EMAIL_PROVIDER: 'smtp', SMTP_URL: sink.url },
	)
	t.teardown(stack.stop)
	const second = stack.anotherWorker()
	await Promise.all([stack.api.start(), stack.worker.start(), second.start()])
	const http = client(stack.apiUrl, stack.secretKey, 1)
	t.teardown(http.close)
	const send = async () => {
		const mail = { to: 'ann@example.org', from: 'me@example.com', subject: 'S', body: 'B' }
		t.is((await http.post('/v1/send', mail)).status, 200)
	}
	const mails = (status: string) =>
		stack.orm.em
			.fork()
			.count(Email, { status: status as 'SENT', attempt: 1, possibleRepeat: false })
	await send()
	t.true(await until(async () => (await mails('SENT')) === 1, 30_000))
	const connection = await Connection.connect({ address: temporalAddress })
	t.teardown(() => connection.close())
	const { workflow } = new Client({ connection, namespace: stack.namespace })
	const queues: string[] = []
	for await (const { workflowId } of workflow.list({ query: `ProjectId = '${stack.projectId}'` }))
		for (const { activityTaskScheduledEventAttributes: scheduled } of (
			await workflow.getHandle(workflowId).fetchHistory()
		).events!)
			if (scheduled) queues.push(scheduled.taskQueue!.name!)
	t.is(queues.length, 1)
	t.regex(queues[0]!, /^email\//)
	await send()
	t.true(await until(async () => (await mails('SENDING')) === 1, 30_000))
	await Promise.all([stack.worker.stop(), second.stop()])
	t.is(await mails('SENT'), 2)
	t.is((await sink.statistics()).accepted, 2)
})

test('a worker that is stopping begins no first pass', async (t) => {
	const { send, claim, worker } = await setupLedger(t)
	await send(['ann@example.org'])
	const { provider, handed } = scriptedProvider()
	const { deliverClaimAtOnce, stop } = await worker(provider)
	stop()
	t.is(await deliverClaimAtOnce(claimOf((await claim())[0])), null)
	t.deepEqual(handed, [])
})
