import { randomUUID } from 'node:crypto'
import test from 'ava'
import { settleByEvent } from '../db/reputation/evidence.ts'
import { overResend } from './helpers/campaign-sending.ts'
import { campaignWorker } from './helpers/campaign-worker.ts'

test('over Resend a campaign is sent in batches', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 250)
	t.like(await send(worker), { settled: 250, left: 0 })
	t.is(fake.requests.length, 3)
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 250)
	const idOf = new Map(fake.accepted.map(({ emailId, id }) => [emailId, id]))
	for (const mail of await mails())
		t.like(mail, { status: 'SENT', provider_message_id: idOf.get(mail.id)! })
})

test('large mails are sent in smaller batches', async (t) => {
	const { send, worker, fake, query } = await overResend(t, 100)
	await query('update campaigns set body = $1', [`<p>${'word '.repeat(20_000)}</p>`])
	t.like(await send(worker), { settled: 100, left: 0 })
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 100)
	t.is(fake.requests.length, 5)
})

/** 40 KB of text, of which a loop makes a mail of 800 KB. */
const grown = `{{ name }}{% for i in (1..20) %}<p>${'word '.repeat(8000)}</p>{% endfor %}`

test('mails that a loop makes large are handed over a few at a time, and repeated together, though contacts have changed', async (t) => {
	const { send, provider, pool, fake, mails, query } = await overResend(t, 20)
	await query('update campaigns set body = $1', [grown])
	const answers = Promise.withResolvers<never>()
	const dying = {
		...provider,
		deliverBatch: async (...given: Parameters<NonNullable<typeof provider.deliverBatch>>) => {
			await provider.deliverBatch!(...given)
			// The worker dies before it can record them.
			return answers.promise
		},
	}
	const dead = send(campaignWorker(pool, dying)).catch(() => {})
	t.teardown(async () => {
		answers.reject(new Error('dead'))
		await dead
	})
	while (fake.accepted.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
	const [first, second] = fake.accepted
	await query('delete from contacts where email = $1', [first!.mail.to])
	await query(
		`update contacts set data = jsonb_build_object('name', repeat('x', 60000)) where email = $1`,
		[second!.mail.to],
	)
	const worker = campaignWorker(pool, provider)
	for (let tries = 0; tries < 5 && (await send(worker)).left > 0; tries++);
	const batches = Map.groupBy(fake.accepted, ({ key }) => key)
	t.true([...batches.values()].every((batch) => batch.length <= 3))
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, fake.accepted.length)
	const accepted = new Set(fake.accepted.map(({ emailId }) => emailId))
	const sent = (await mails()).filter(({ status }) => status === 'SENT')
	t.true(sent.length >= 19)
	for (const { id } of sent) t.true(accepted.has(id))
})

test('few batches of a process are claimed at a time, because those that wait could still be cancelled', async (t) => {
	const { send, provider, pool, fake, query, id } = await overResend(t, 2000)
	fake.delayMs = 200
	const worker = campaignWorker(pool, provider)
	const lanes = Array.from({ length: 4 }, (_, lane) => send(worker, lane))
	let isOver = false
	const all = Promise.all(lanes).then(() => (isOver = true))
	let most = 0
	while (!isOver) {
		const [found] = await query<{ sending: number }>(
			`select count(*)::int as sending from emails where campaign_id = $1 and status = 'SENDING'`,
			[id],
		)
		most = Math.max(most, found!.sending)
		await new Promise((resolve) => setTimeout(resolve, 20))
	}
	await all
	t.true(most > 0 && most <= 400, `${most} claimed`)
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 2000)
})

test('batches that wait while Resend asks for a pause are not sent once their campaign is cancelled', async (t) => {
	const { send, provider, pool, fake, mails, query } = await overResend(t, 2000, [
		{ status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '4' } },
	])
	const worker = campaignWorker(pool, provider)
	const lanes = Array.from({ length: 4 }, (_, lane) => send(worker, lane))
	const isRefused = async () =>
		(await mails()).some(({ status, attempt }) => status === 'PENDING' && attempt > 0)
	while (!(await isRefused())) await new Promise((resolve) => setTimeout(resolve, 5))
	await query(`update campaigns set status = 'CANCELLED'`)
	fake.faults.length = 0
	await Promise.all(lanes)
	t.is(fake.accepted.length, 0)
	t.true((await mails()).every(({ status }) => status === 'PENDING'))
})

test('a send rate limits a batch to a second’s worth, with any number of lanes', async (t) => {
	const { send, provider, pool, fake, mails, query } = await overResend(t, 60)
	await query('update projects set send_rate_per_second = 20')
	const worker = campaignWorker(pool, provider)
	await Promise.all([send(worker), send(worker)])
	t.is(fake.accepted.length, 60)
	for (const { status } of await mails()) t.is(status, 'SENT')
	t.true(fake.requests.length <= 5, `${fake.requests.length} requests`)
})

test('a batch that a dead worker had handed over is repeated under its key, though contacts have changed', async (t) => {
	const { send, provider, pool, fake, mails, query, project, id } = await overResend(t, 120)
	const answers = Promise.withResolvers<never>()
	const dying = {
		...provider,
		deliverBatch: async (...given: Parameters<NonNullable<typeof provider.deliverBatch>>) => {
			await provider.deliverBatch!(...given)
			return answers.promise // the worker dies before it can record it
		},
	}
	const dead = send(campaignWorker(pool, dying)).catch(() => {})
	t.teardown(async () => {
		answers.reject(new Error('dead'))
		await dead
	})
	while (fake.accepted.length < 120) await new Promise((resolve) => setTimeout(resolve, 5))
	await query(`update contacts set data = '{"name": "Zoe"}' where email like 'user1%'`)
	t.like(await send(campaignWorker(pool, provider)), { settled: 120, left: 0 })
	t.is(fake.accepted.length, 120)
	for (const { status } of await mails()) t.is(status, 'SENT')
	t.like(
		(
			await query('select status from campaigns where id = $1 and project_id = $2', [
				id,
				project.id,
			])
		)[0],
		{ status: 'SENDING' },
	)
})

test('a batch is taken over whole, even after several workers have died', async (t) => {
	const { send, provider, pool, fake } = await overResend(t, 100)
	for (let deaths = 0; deaths < 6; deaths++) {
		const begun = Promise.withResolvers<void>()
		const ends = Promise.withResolvers<never>()
		const dying = { ...provider, deliverBatch: () => (begun.resolve(), ends.promise) }
		const dead = send(campaignWorker(pool, dying)).catch(() => {})
		t.teardown(async () => {
			ends.reject(new Error('dead'))
			await dead
		})
		await begun.promise
	}
	t.like(await send(campaignWorker(pool, provider)), { settled: 100, left: 0 })
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 100)
	t.is(fake.requests.length, 1)
})

test('a batch that was perhaps taken is repeated under its key until Resend answers', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 30, [
		{ status: 500, take: true, times: 2 },
	])
	let rest = await send(worker)
	for (let tries = 0; rest.left > 0 && tries < 5; tries++) rest = await send(worker)
	t.is(rest.left, 0)
	t.is(fake.accepted.length, 30)
	for (const { status, attempt } of await mails()) t.deepEqual([status, attempt], ['SENT', 1])
})

test('a batch that was perhaps taken is repeated by the next turn, not at the end of its campaign', async (t) => {
	const { send, worker, fake, mails, query } = await overResend(t, 1500, [
		{ status: 500, take: true, times: 1 },
	])
	await query('update projects set send_rate_per_second = 50')
	while ((await send(worker)).left > 0);
	const keys = fake.requests.map(({ headers }) => headers['idempotency-key'])
	const repeated = keys.lastIndexOf(keys[0]!)
	t.true(repeated > 0)
	t.true(repeated < keys.length - 3, `${repeated} of ${keys.length}`)
	t.is(new Set(fake.accepted.map(({ emailId }) => emailId)).size, 1500)
	t.is(fake.accepted.length, 1500)
	for (const { status } of await mails()) t.is(status, 'SENT')
})

for (const take of [false, true])
	test(`a repeated batch leaves readers out who may get no mail any more (the first request was ${take ? '' : 'not '}taken)`, async (t) => {
		const { send, worker, fake, mails, query, project } = await overResend(t, 30, [
			{ status: 500, take, times: 1 },
			{ status: 500 },
		])
		const unanswered = send(worker)
		while (fake.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
		const [suppressed, unsubscribed] = (await mails()).map(({ to }) => to) as [string, string]
		await query(`insert into suppressions (project_id, email, reason) values ($1, $2, 'MANUAL')`, [
			project.id,
			suppressed,
		])
		await query('update contacts set subscribed = false where email = $1', [unsubscribed])
		fake.faults.length = 0
		let rest = await unanswered
		for (let tries = 0; rest.left > 0 && tries < 5; tries++) rest = await send(worker)
		t.is(rest.left, 0)
		t.is(fake.accepted.length, take ? 30 : 28)
		for (const { to, status } of await mails())
			t.is(
				status,
				to !== suppressed && to !== unsubscribed
					? 'SENT'
					: take
						? 'UNCERTAIN'
						: to === suppressed
							? 'SUPPRESSED'
							: 'CANCELLED',
			)
	})

for (const [name, fault] of [
	[
		'refused for now',
		{ status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' } },
	],
	[
		'refused for our API key',
		{ status: 401, name: 'restricted_api_key', headers: { 'retry-after': '1' } },
	],
] as const)
	test(`a batch that was perhaps taken keeps its key when its repeat is ${name}`, async (t) => {
		const { send, worker, fake, mails } = await overResend(t, 30, [
			{ status: 500, take: true, times: 1 },
			{ ...fault, times: 1 },
		])
		let rest = await send(worker)
		for (let tries = 0; rest.left > 0 && tries < 5; tries++) rest = await send(worker)
		t.is(rest.left, 0)
		t.is(new Set(fake.requests.map(({ headers }) => headers['idempotency-key'])).size, 1)
		t.is(fake.accepted.length, 30)
		for (const { status, attempt } of await mails()) t.deepEqual([status, attempt], ['SENT', 1])
	})

test('a batch that was certainly not accepted is sent again as a new one', async (t) => {
	const { send, worker, fake, mails } = await overResend(t, 30, [
		{ status: 429, name: 'rate_limit_exceeded', headers: { 'retry-after': '1' }, times: 1 },
	])
	t.like(await send(worker), { settled: 30, left: 0 })
	t.is(fake.accepted.length, 30)
	for (const { status } of await mails()) t.is(status, 'SENT')
})

test('a mail in doubt for longer than Resend remembers is not repeated', async (t) => {
	const { send, worker, fake, mails, query, written, id } = await overResend(t, 2)
	await written(id)
	await query(
		`update emails set status = 'SENDING', attempt = 1, provider = 'resend', batch_id = $1,
			attempt_started_at = now() - interval '24 hours'`,
		[randomUUID()],
	)
	t.like(await send(worker), { settled: 2, left: 0 })
	t.is(fake.accepted.length, 0)
	for (const { status } of await mails()) t.is(status, 'UNCERTAIN')
})

test('an event of Resend without our tags finds its campaign mail by the id that Resend gave it', async (t) => {
	const { send, worker, fake, mails, pool, project } = await overResend(t, 3)
	t.like(await send(worker), { settled: 3, left: 0 })
	const { id, emailId } = fake.accepted[1]!
	const evidence = {
		kind: 'DELIVERED' as const,
		at: new Date().toISOString(),
		bounceType: null,
		error: null,
		link: null,
		providerMessageId: id,
	}
	const values = {
		eventId: 'resend/event',
		projectId: null,
		emailId: null,
		providerMessageId: id,
		evidence,
	}
	t.deepEqual(await settleByEvent(pool, values), [{ isNew: true, isKnown: true }])
	for (const mail of await mails()) t.is(mail.status, mail.id === emailId ? 'DELIVERED' : 'SENT')
	const kept = await pool.query('select 1 from attempts where project_id = $1', [project.id])
	t.is(kept.rowCount, 3)
})
