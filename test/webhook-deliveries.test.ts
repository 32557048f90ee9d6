import test, { type ExecutionContext } from 'ava'
import { Webhook } from 'standardwebhooks'
import { until } from '../bench/load.ts'
import { dueDeliveries, unpackBatches } from '../db/webhooks/webhook-turns.ts'
import { answering, isSignedBy } from './helpers/webhook-receiver.ts'
import { type DeliveryJson, type EndpointJson, setupWebhooks } from './helpers/webhooks.ts'

const planMs = [5e3, 3e5, 18e5, 72e5, 18e6, 36e6, 36e6]

test('an event is delivered once, signed, with its type, time and data', async (t) => {
	const { endpoint, track, turn, receiver, deliveries, ask } = await setupWebhooks(t)
	const { id, secret } = await endpoint(['event.*'])
	await track('signup', 'ann@example.org', { plan: 'pro' })
	t.is((await turn(id)).waitMs, null)
	t.is((await turn(id)).waitMs, null)
	t.is(receiver.heard.length, 1)
	const { body, headers } = receiver.heard[0]!
	const verified = new Webhook(secret).verify(body, headers as Record<string, string>) as object
	t.like(verified, {
		type: 'event.signup',
		data: { name: 'signup', email: 'ann@example.org', emailId: null, data: { plan: 'pro' } },
	})
	t.is(headers['content-type'], 'application/json')
	const { data, total } = await deliveries(id)
	t.is(total, 1)
	t.like(data[0], {
		type: 'event.signup',
		status: 'DELIVERED',
		tries: 1,
		webhookId: headers['webhook-id'],
		nextTryAt: null,
		lastAttempt: { status: 200, error: null },
	})
	const detail = await ask<DeliveryJson>('GET', `/webhook-deliveries/${data[0]!.id}`)
	t.is(detail.payload, body)
	t.like(detail.attempts[0], { status: 200, answer: '' })
	t.like(await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`), {
		health: { state: 'healthy', waiting: 0, failuresInRow: 0 },
	})
})

test('every try and every replay has the same id and the same body', async (t) => {
	const { endpoint, track, turn, receiver, deliveries, passTime, ask, replay } =
		await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	receiver.answer = answering(500)
	await turn(id)
	await ask('PATCH', '/contacts/' + String(receiver.heard[0]!.data['contactId']), {
		email: 'ann.new@example.org',
	})
	await passTime()
	receiver.answer = answering(200)
	await turn(id)
	const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z', only: 'all' }
	const { jobId } = await ask<{ jobId: string }>(
		'POST',
		`/webhook-endpoints/${id}/replay`,
		period,
		202,
	)
	await replay(jobId)
	await turn(id)
	t.is(receiver.heard.length, 3)
	t.is(new Set(receiver.heard.map(({ headers }) => headers['webhook-id'])).size, 1)
	t.is(new Set(receiver.heard.map(({ body }) => body)).size, 1)
	t.like((await deliveries(id)).data[0], { tries: 3, status: 'DELIVERED' })
})

test('a failed delivery is tried eight times by the plan, and then given up', async (t) => {
	const { endpoint, track, turn, receiver, deliveries, passTime } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	receiver.answer = answering(500, 'no')
	for (const wait of planMs) {
		const { waitMs } = await turn(id)
		t.true(waitMs! > wait - 5000 && waitMs! < wait * 1.11, `${waitMs} for ${wait}`)
		await passTime()
	}
	t.is((await turn(id)).waitMs, null)
	t.is(receiver.heard.length, 8)
	const { data } = await deliveries(id)
	t.like(data[0], { status: 'FAILED', tries: 8, nextTryAt: null })
})

test('the longer of the plan and Retry-After counts, for all deliveries of an endpoint that is busy', async (t) => {
	const { endpoint, track, turn, receiver, ask } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('one')
	receiver.answer = answering(503, '', { 'retry-after': '120' })
	const { waitMs } = await turn(id)
	t.true(waitMs! > 119_000 && waitMs! < 135_000, `${waitMs}`)
	await track('two')
	await turn(id)
	t.is(receiver.heard.length, 1)
	const { health } = await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)
	t.is(health.waiting, 2)
	t.truthy(health.restingUntil)
})

test('a pause that an endpoint asks for outlasts the answers that were under way', async (t) => {
	const { endpoint, track, turn, receiver, ask } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (const name of ['one', 'two', 'three']) await track(name)
	const health = async () => (await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).health
	let asked = 0
	receiver.answer = (response, one) => {
		asked += 1
		if (asked === 1) answering(429, '', { 'retry-after': '120' })(response, one)
		else
			void until(async () => (await health()).restingUntil !== null, 10_000).then(() =>
				answering(200)(response, one),
			)
	}
	const { waitMs } = await turn(id)
	t.is(asked, 3)
	t.true(waitMs! > 100_000, `${waitMs}`)
	t.true(Date.parse((await health()).restingUntil!) > Date.now() + 100_000)
})

test('an endpoint without an answer shows the network error in words', async (t) => {
	const { endpoint, track, turn, deliveries, receiver } = await setupWebhooks(t)
	const cases = {
		'http://127.0.0.1:9/': 'Nothing listens at this address (ECONNREFUSED)',
		[receiver.url.replace('http', 'https')]: 'It does not speak TLS (EPROTO)',
	}
	for (const [url, words] of Object.entries(cases)) {
		const { id } = await endpoint(['event.*'], { url })
		await track('signup')
		await turn(id)
		const [{ status, lastAttempt } = {}] = (await deliveries(id)).data
		t.is(status, 'PENDING')
		t.like(lastAttempt, { status: null, error: words })
	}
})

test('the status of an answer counts although its text breaks off or never ends', async (t) => {
	const { endpoint, track, turn, deliveries, receiver, ask } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('broken')
	await track('endless')
	receiver.answer = (response, { type }) => {
		response.writeHead(202, { 'content-length': 100 }).write('thanks', () => {
			if (type === 'event.broken') response.destroy()
		})
	}
	await turn(id)
	for (const one of (await deliveries(id)).data) {
		t.like(one, { status: 'DELIVERED', lastAttempt: { status: 202, error: null } }, one.type)
		const { attempts } = await ask<DeliveryJson>('GET', `/webhook-deliveries/${one.id}`)
		t.is(attempts[0]!.answer, 'thanks')
	}
	t.is(receiver.heard.length, 2)
})

test('a redirect is a failure, and is not followed', async (t) => {
	const { endpoint, track, turn, receiver, deliveries } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	receiver.answer = answering(302, '', { location: '/elsewhere' })
	await turn(id)
	t.is(receiver.heard.length, 1)
	const [{ lastAttempt } = { lastAttempt: null }] = (await deliveries(id)).data
	t.is(lastAttempt!.status, 302)
	t.regex(lastAttempt!.error!, /redirects/)
})

test('after ten failures in a row one delivery at a time tries, and a success opens the endpoint again', async (t) => {
	const { endpoint, track, turn, receiver, passTime, ask } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (let i = 0; i < 60; i++) await track(`n${i}`)
	receiver.answer = answering(500)
	const beganAt = performance.now()
	const first = await turn(id)
	const tookMs = performance.now() - beganAt
	t.true(receiver.heard.length < 40, `${receiver.heard.length}`)
	t.true(first.waitMs! > 5000 - tookMs && first.waitMs! < 6000)
	for (const rest of [60e3, 300e3]) {
		await passTime()
		const before = receiver.heard.length
		const { waitMs } = await turn(id)
		t.is(receiver.heard.length, before + 1)
		t.true(waitMs! > rest - 1000 && waitMs! < rest * 1.11, `${waitMs}`)
	}
	t.is((await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).health.state, 'failing')
	await passTime()
	receiver.answer = answering(200)
	t.is((await turn(id)).waitMs, null)
	t.is(new Set(receiver.heard.map(({ type }) => type)).size, 60)
	t.like((await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).health, {
		state: 'healthy',
		waiting: 0,
		failuresInRow: 0,
	})
})

test('requests that were under way when a rest began do not make it longer', async (t) => {
	const { endpoint, track, turn, receiver, ask } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (let i = 0; i < 20; i++) await track(`n${i}`)
	const failures = async () =>
		(await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).health.failuresInRow
	const held: (() => void)[] = []
	receiver.answer = (...heard) => void held.push(() => answering(500)(...heard))
	const over = turn(id)
	t.true(await until(async () => held.length === 20, 20_000))
	const beganAt = performance.now()
	for (const answer of held.splice(0, 10)) answer()
	t.true(await until(async () => (await failures()) === 10, 20_000))
	for (const answer of held) answer()
	const { waitMs } = await over
	const tookMs = performance.now() - beganAt
	t.true(waitMs! > 5000 - tookMs && waitMs! < 6000, `${waitMs}`)
	t.is(await failures(), 10)
})

for (const act of ['change', 'test', 'retry'] as const)
	test(`a request that was under way at the ${act} of an endpoint by its owner does not make it rest again, and is tried anew`, async (t) => {
		const { endpoint, track, turn, receiver, ask, deliveries, pool } = await setupWebhooks(t)
		const { id } = await endpoint(['event.*'])
		for (let i = 0; i < 12; i++) await track(`n${i}`)
		receiver.answer = answering(500)
		await turn(id)
		await pool.query(
			`with rested as (update webhook_endpoints set resting_until = now() - interval '1 s')
			update webhook_deliveries set next_at = now() - interval '1 s'`,
		)
		const { data } = await deliveries(id)
		receiver.answer = (response, heard) => {
			receiver.answer = answering(200)
			const acted = {
				change: () => ask('PATCH', `/webhook-endpoints/${id}`, { description: 'Repaired' }),
				test: () => ask('POST', `/webhook-endpoints/${id}/test`, {}),
				retry: () => ask('POST', `/webhook-deliveries/${data[0]!.id}/retry`),
			}[act]()
			void acted.then(() => answering(500)(response, heard))
		}
		t.is((await turn(id)).waitMs, 0)
		const { health } = await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)
		t.is(health.restingUntil, null)
		t.is((await turn(id)).waitMs, null)
		t.is((await deliveries(id, '?status=DELIVERED')).total, 12)
	})

test('a request that was under way at a successful test of an endpoint is tried anew, also if that did not rest', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('n')
	receiver.answer = (response, heard) => {
		receiver.answer = answering(200)
		const tested = ask('POST', `/webhook-endpoints/${id}/test`, {})
		void tested.then(() => answering(500)(response, heard))
	}
	t.is((await turn(id)).waitMs, 0)
	t.is((await turn(id)).waitMs, null)
	t.is((await deliveries(id, '?status=DELIVERED')).total, 1)
})

for (const act of ['change', 'successful test'] as const)
	test(`after a ${act} of their endpoint, deliveries do not wait for their next try, up to a thousand`, async (t) => {
		const { endpoint, track, turn, receiver, ask, deliveries, pool, project } =
			await setupWebhooks(t)
		const { id } = await endpoint(['event.*'])
		for (const name of ['one', 'two', 'three']) await track(name)
		receiver.answer = answering(500)
		t.true((await turn(id)).waitMs! > 0)
		const repair = () =>
			act === 'successful test'
				? ask('POST', `/webhook-endpoints/${id}/test`, {})
				: ask('PATCH', `/webhook-endpoints/${id}`, { url: `${receiver.url}/new` })
		receiver.answer = answering(200)
		await repair()
		t.is((await turn(id)).waitMs, null)
		const { data } = await deliveries(id)
		t.deepEqual(
			data.map(({ status, tries }) => [status, tries]),
			Array.from({ length: 3 }, () => ['DELIVERED', 2]),
		)
		await pool.query(
			`insert into webhook_deliveries
				(project_id, endpoint_id, event_id, type, occurred_at, status, tries, next_at)
			select $1, $2, uuidv7(), 'event.x', now(), 'PENDING', 2, now() + make_interval(mins => n)
			from generate_series(1, 1001) n`,
			[project.id, id],
		)
		await repair()
		const { rows } = await pool.query(
			`select count(*)::int, min(tries)::int as tries,
				bool_and(next_at > now() + interval '1000 minutes') as "isLast"
			from webhook_deliveries where status = 'PENDING' group by next_at > now() order by 1`,
		)
		t.deepEqual(rows, [
			{ count: 1, tries: 2, isLast: true },
			{ count: 1000, tries: 2, isLast: false },
		])
	})

test('410 disables an endpoint at once, and its members are notified once', async (t) => {
	const { endpoint, track, turn, receiver, ask, pool, orm, project } = await setupWebhooks(t)
	const { User } = await import('../db/accounts/user.ts')
	const em = orm.em.fork()
	const user = em.create(User, { email: 'owner@example.org', verifiedAt: new Date() } as never)
	await em.flush()
	await pool.query(`insert into memberships (project_id, user_id, role) values ($1, $2, 'OWNER')`, [
		project.id,
		user.id,
	])
	const { id } = await endpoint(['event.*'])
	await track('one')
	receiver.answer = answering(410)
	t.is((await turn(id)).waitMs, 0)
	await turn(id)
	await turn(id)
	t.like(await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`), {
		enabled: false,
		disabledReason: 'GONE',
		health: { state: 'disabled', waiting: 0 },
	})
	const { rows } = await pool.query<{ to: string }>(
		`select "to" from emails where subject like '%webhook%'`,
	)
	t.deepEqual(rows, [{ to: 'owner@example.org' }])
})

test('five days without a success disable an endpoint; one success starts them anew', async (t) => {
	const { endpoint, track, turn, receiver, ask, pool, passTime } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	const enabled = async () => (await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).enabled
	const failSince = (days: string) =>
		pool.query(`update webhook_endpoints set failing_since = now() - $1::interval`, [days])
	await track('one')
	receiver.answer = answering(500)
	await turn(id)
	await failSince('4 days 23 hours')
	await passTime()
	await turn(id)
	t.true(await enabled())
	await failSince('5 days 1 minute')
	await passTime()
	receiver.answer = answering(200)
	await turn(id)
	receiver.answer = answering(500)
	await track('two')
	await turn(id)
	t.true(await enabled())
	await failSince('5 days 1 minute')
	await passTime()
	await turn(id)
	t.false(await enabled())
})

test('a disabled endpoint keeps its events for a replay, and gets only what follows when it is enabled', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries, replay } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('waiting')
	await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: false })
	await turn(id)
	await track('meanwhile')
	const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z' }
	await ask('POST', `/webhook-endpoints/${id}/replay`, period, 409)
	const held = await deliveries(id, '?status=HELD')
	t.deepEqual(
		held.data.map(({ type }) => type),
		['event.meanwhile', 'event.waiting'],
	)
	await ask('POST', `/webhook-deliveries/${held.data[0]!.id}/retry`, undefined, 409)
	await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: true })
	await track('later')
	await turn(id)
	t.deepEqual(
		receiver.heard.map(({ type }) => type),
		['event.later'],
	)
	const { jobId } = await ask<{ jobId: string }>(
		'POST',
		`/webhook-endpoints/${id}/replay`,
		{ ...period, types: ['event.meanwhile'] },
		202,
	)
	await replay(jobId)
	t.like(await ask('GET', `/webhook-endpoints/${id}/replay/${jobId}`), {
		state: 'completed',
		progress: 100,
		replayed: 1,
	})
	await turn(id)
	t.deepEqual(
		receiver.heard.map(({ type }) => type),
		['event.later', 'event.meanwhile'],
	)
})

test('an endpoint that is disabled from the start keeps its events, whose payloads can be read', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries, replay } = await setupWebhooks(t)
	const { id, ...made } = await endpoint(['event.*', 'contact.*'], { enabled: false })
	t.like(made, { enabled: false, disabledReason: 'OWNER' })
	await track('signup', 'ann@example.org', { plan: 'pro' })
	const payloads = async (query = '') => {
		const { data } = await deliveries(id, `?status=HELD${query}`)
		const details = data.map((one) => ask<DeliveryJson>('GET', `/webhook-deliveries/${one.id}`))
		return (await Promise.all(details)).map(({ payload }) => payload)
	}
	const kept = await payloads()
	t.like(JSON.parse(kept[0]!), { type: 'event.signup', data: { data: { plan: 'pro' } } })
	await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: true })
	const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z' }
	const path = `/webhook-endpoints/${id}/replay`
	await replay((await ask<{ jobId: string }>('POST', path, period, 202)).jobId)
	await turn(id)
	t.deepEqual(receiver.heard.map(({ body }) => body).toSorted(), (kept as string[]).toSorted())
	await track('waiting', 'bob@example.org')
	await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: false })
	await turn(id)
	const { contactId } = (await deliveries(id)).data[0]!
	await ask('DELETE', `/contacts/${contactId}?erase=true`, undefined, 204)
	t.deepEqual(await payloads('&type=event.waiting'), [null])
})

/** One event was delivered, and a replay of all is accepted. */
async function setupReplay(t: ExecutionContext) {
	const setup = await setupWebhooks(t)
	const { endpoint, track, turn, ask } = setup
	const { id } = await endpoint(['event.*'])
	await track('one')
	await turn(id)
	const period = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z', only: 'all' }
	const { jobId } = await ask<{ jobId: string }>(
		'POST',
		`/webhook-endpoints/${id}/replay`,
		period,
		202,
	)
	return { ...setup, id, jobId }
}

test('a cancelled replay makes nothing more due', async (t) => {
	const { id, jobId, turn, receiver, ask, replay } = await setupReplay(t)
	t.like(await ask('DELETE', `/webhook-endpoints/${id}/replay/${jobId}`), { state: 'cancelled' })
	await ask('DELETE', `/webhook-endpoints/${id}/replay/${jobId}`, undefined, 409)
	await replay(jobId)
	await turn(id)
	t.is(receiver.heard.length, 1)
})

test('a replay fails once its endpoint is disabled, and what was delivered stays so', async (t) => {
	const { id, jobId, turn, ask, replay, deliveries } = await setupReplay(t)
	await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: false })
	await replay(jobId)
	await turn(id)
	t.like(await ask('GET', `/webhook-endpoints/${id}/replay/${jobId}`), {
		state: 'failed',
		failedReason: 'The endpoint was disabled',
		replayed: 0,
	})
	t.is((await deliveries(id)).data[0]!.status, 'DELIVERED')
})

test('an endpoint has one replay at a time, and names it', async (t) => {
	const { endpoint, app, withSecretKey: headers, replay, ask } = await setupWebhooks(t)
	const [{ id }, other] = [await endpoint(['event.*']), await endpoint(['event.*'])]
	const payload = { from: '2026-01-01T00:00:00Z', to: '2036-01-01T00:00:00Z' }
	const begin = () =>
		app.inject({ method: 'POST', url: `/webhook-endpoints/${id}/replay`, headers, payload })
	const answers = await Promise.all([begin(), begin(), begin()])
	const [begun, ...refused] = answers.toSorted((a, b) => a.statusCode - b.statusCode)
	const { jobId } = begun!.json<{ jobId: string }>()
	t.is(begun!.statusCode, 202)
	for (const answer of refused) {
		t.is(answer.statusCode, 409)
		t.deepEqual(answer.json().error.details, { jobId })
	}
	const running = async () =>
		(await ask<EndpointJson[]>('GET', '/webhook-endpoints')).map((one) => one.replayJobId)
	t.deepEqual(await running(), [null, jobId])
	t.is((await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`)).replayJobId, jobId)
	await ask('POST', `/webhook-endpoints/${other.id}/replay`, payload, 202)
	await replay(jobId)
	t.is((await running())[1], null)
	t.is((await begin()).statusCode, 202)
})

test('a retry is made now, before all that waits, although the endpoint rests', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries, pool, project } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (let i = 0; i < 60; i++) await track(`n${i}`)
	receiver.answer = answering(500)
	await turn(id)
	const last = (await deliveries(id)).data[0]!
	const heard = receiver.heard.length
	await pool.query(
		`insert into webhook_batches (project_id, endpoint_id, type, email_ids, occurred_at)
		values ($1, $2, 'email.sent', array[uuidv7()], now() - interval '1 hour')`,
		[project.id, id],
	)
	t.like(await ask('POST', `/webhook-deliveries/${last.id}/retry`), { status: 'PENDING' })
	await turn(id)
	t.is(receiver.heard.length, heard + 1)
	t.is(receiver.heard.at(-1)!.headers['webhook-id'], last.webhookId)
})

test('a retry that is requested during the last try keeps its new plan', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await pool.query('update webhook_deliveries set tries = 7')
	const delivery = (await deliveries(id)).data[0]!
	receiver.answer = (response) => {
		receiver.answer = answering(500)
		const retried = ask('POST', `/webhook-deliveries/${delivery.id}/retry`)
		void retried.then(() => response.writeHead(500).end())
	}
	const { waitMs } = await turn(id)
	t.is(receiver.heard.length, 2)
	t.true(waitMs! > 0 && waitMs! < planMs[0]! * 1.11, `${waitMs}`)
	t.like((await deliveries(id)).data[0], { status: 'PENDING', tries: 2 })
})

test('a retry that is requested during the first try is made at once if that fails', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	const delivery = (await deliveries(id)).data[0]!
	receiver.answer = (response) => {
		receiver.answer = answering(200)
		const retried = ask('POST', `/webhook-deliveries/${delivery.id}/retry`)
		void retried.then(() => response.writeHead(500).end())
	}
	t.is((await turn(id)).waitMs, null)
	t.is(receiver.heard.length, 2)
	t.like((await deliveries(id)).data[0], { status: 'DELIVERED', tries: 2 })
})

test('a last try that was under way at a rotation and is refused is made again with the new secret', async (t) => {
	const { endpoint, track, turn, receiver, ask, deliveries, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('signup')
	await pool.query('update webhook_deliveries set tries = 7')
	let secret = ''
	const switched: typeof receiver.answer = (response, heard) =>
		answering(isSignedBy(secret, heard) ? 200 : 401)(response, heard)
	receiver.answer = (response, heard) => {
		receiver.answer = switched
		const rotated = ask<EndpointJson>('POST', `/webhook-endpoints/${id}/rotate-secret`)
		void rotated.then((answer) => {
			secret = answer.secret
			switched(response, heard)
		})
	}
	t.is((await turn(id)).waitMs, 0)
	t.is((await turn(id)).waitMs, null)
	t.like((await deliveries(id)).data[0], { status: 'DELIVERED', tries: 2 })
})

/** An endpoint that gets each mail's events in order. */
async function setupOrdered(t: ExecutionContext) {
	const context = await setupWebhooks(t)
	const { endpoint, pool, project } = context
	const { id } = await endpoint(['email.*'], { ordering: 'email' })
	const mail = async () =>
		(
			await pool.query<{ id: string }>(
				`insert into emails (project_id, "to", "from", subject, source_type)
				values ($1, 'ann@example.org', 'hello@example.com', 'Hi', 'TRANSACTIONAL') returning id`,
				[project.id],
			)
		).rows[0]!.id
	const happens = (emailId: string, name: string) =>
		pool.query('insert into events (project_id, name, email_id) values ($1, $2, $3)', [
			project.id,
			name,
			emailId,
		])
	return { ...context, id, mail, happens }
}

test('with the ordering "email", the next event of a mail waits for the one before; others do not', async (t) => {
	const { id, mail, happens, turn, receiver, passTime } = await setupOrdered(t)
	const [first, second] = [await mail(), await mail()]
	for (const name of ['email.sent', 'email.delivery', 'email.open']) await happens(first, name)
	await happens(second, 'email.sent')
	receiver.answer = (response, { type, data }) =>
		void response.writeHead(data['emailId'] === first && type === 'email.sent' ? 500 : 200).end()
	t.true((await turn(id)).waitMs! > 0)
	const heard = () =>
		receiver.heard.map(({ type, data }) => `${data['emailId'] === first ? 1 : 2} ${type}`)
	t.deepEqual(heard().toSorted(), ['1 email.sent', '2 email.sent'])
	receiver.answer = answering(200)
	await passTime()
	await turn(id)
	t.deepEqual(heard().slice(2), ['1 email.sent', '1 email.delivered', '1 email.opened'])
})

test('however many events a mail has, they hold up the mails after it no longer than one does', async (t) => {
	const { id, mail, happens, turn, receiver, pool, project } = await setupOrdered(t)
	const [reloaded, other] = [await mail(), await mail()]
	await pool.query(
		`insert into events (project_id, name, email_id, data)
		select $1, 'email.open', $2, jsonb_build_object('opens', n) from generate_series(1, 1500) n`,
		[project.id, reloaded],
	)
	await happens(other, 'email.sent')
	await turn(id)
	t.true(receiver.heard.slice(0, 3).some(({ data }) => data['emailId'] === other))
	for (let turns = 0; receiver.heard.length < 1501 && turns < 10; turns++) await turn(id)
	const opens = receiver.heard.filter(({ data }) => data['emailId'] === reloaded)
	t.deepEqual(
		opens.map(({ data }) => data['opens']),
		Array.from({ length: 1500 }, (_, i) => i + 1),
	)
})

test('an event that comes while a page is taken does not overtake the one before of its mail', async (t) => {
	const { id, mail, happens, turn, receiver, pool, passTime } = await setupOrdered(t)
	const first = await mail()
	await happens(first, 'email.sent')
	receiver.answer = answering(500)
	await turn(id)
	const run = pool.query.bind(pool) as (...given: unknown[]) => unknown
	let isLate = false
	Object.assign(pool, {
		query: (...given: unknown[]) => {
			const { name } = given[0] as { name?: string }
			if (isLate || name !== 'due-webhook-deliveries') return run(...given)
			isLate = true
			return happens(first, 'email.delivery').then(() => run(...given))
		},
	})
	await turn(id)
	t.true(isLate)
	t.is(receiver.heard.length, 1)
	receiver.answer = answering(200)
	await passTime()
	await turn(id)
	t.deepEqual(
		receiver.heard.slice(1).map(({ type }) => type),
		['email.sent', 'email.delivered'],
	)
})

test('after a rest, too, an endpoint gets the events of a mail in order', async (t) => {
	const { id, mail, happens, turn, receiver, pool, passTime } = await setupOrdered(t)
	const first = await mail()
	await happens(first, 'email.sent')
	receiver.answer = answering(500)
	await turn(id)
	await passTime()
	await turn(id)
	await happens(first, 'email.delivery')
	receiver.answer = answering(200)
	// The rest ends after the next try of the first, which the second was due before.
	await pool.query(
		`with rested as (update webhook_endpoints set resting_until = null)
		update webhook_deliveries set next_at = now() - case tries when 0 then '2 s' else '1 s' end::interval`,
	)
	await turn(id)
	t.deepEqual(
		receiver.heard.slice(2).map(({ type }) => type),
		['email.sent', 'email.delivered'],
	)
})

test('a turn posts nothing more to an endpoint that is disabled, deleted, moved or rotated meanwhile', async (t) => {
	const { endpoint, track, turn, receiver, ask } = await setupWebhooks(t)
	for (const change of [
		(id: string) => ask('PATCH', `/webhook-endpoints/${id}`, { enabled: false }),
		(id: string) => ask('DELETE', `/webhook-endpoints/${id}`, undefined, 204),
		(id: string) => ask('PATCH', `/webhook-endpoints/${id}`, { url: `${receiver.url}/new` }),
		(id: string) => ask('POST', `/webhook-endpoints/${id}/rotate-secret`),
	]) {
		const { id } = await endpoint(['event.first', 'event.second'])
		await track('first')
		receiver.heard = []
		receiver.answer = (response) =>
			void track('second')
				.then(() => change(id))
				.then(() => response.end())
		await turn(id)
		t.deepEqual(
			receiver.heard.map(({ type }) => type),
			['event.first'],
		)
	}
})

for (const change of ['disabled', 'deleted', 'rotated'] as const)
	test(`a turn posts little more after its endpoint was ${change} during a page`, async (t) => {
		const { endpoint, track, turn, receiver, ask, pool } = await setupWebhooks(t)
		const { id } = await endpoint(['event.*'])
		for (let i = 0; i < 100; i++) await track(`n${i}`)
		const isRecorded = async () =>
			(await pool.query('select from webhook_endpoints where last_success_at is not null'))
				.rowCount === 1
		const held: (() => void)[] = []
		receiver.answer = (...heard) => void held.push(() => answering(200)(...heard))
		const over = turn(id)
		t.true(await until(async () => held.length === 20, 20_000))
		if (change === 'disabled') await ask('PATCH', `/webhook-endpoints/${id}`, { enabled: false })
		else if (change === 'rotated') await ask('POST', `/webhook-endpoints/${id}/rotate-secret`)
		else await ask('DELETE', `/webhook-endpoints/${id}`, undefined, 204)
		held.shift()!()
		t.true(await until(isRecorded, 20_000))
		receiver.answer = answering(200)
		for (const answer of held) answer()
		await over
		t.true(receiver.heard.length <= 40, `${receiver.heard.length}`)
	})

test('the answers of an old URL say nothing about the health of a new one', async (t) => {
	const { endpoint, track, turn, receiver, ask } = await setupWebhooks(t)
	const cases = [
		{ answer: answering(410), heard: ['event.new'] },
		{ answer: answering(503, '', { 'retry-after': '120' }), heard: ['event.new', 'event.old'] },
	]
	for (const { answer, heard } of cases) {
		const { id } = await endpoint(['event.*'])
		const url = `${receiver.url}/new`
		await track('old')
		receiver.answer = (response, one) =>
			void ask('PATCH', `/webhook-endpoints/${id}`, { url }).then(() => answer(response, one))
		await turn(id)
		t.like(await ask<EndpointJson>('GET', `/webhook-endpoints/${id}`), {
			enabled: true,
			health: { failuresInRow: 0, restingUntil: null },
		})
		receiver.heard.length = 0
		receiver.answer = answering(200)
		await track('new')
		await turn(id)
		t.deepEqual(receiver.heard.map(({ type }) => type).toSorted(), heard)
		await ask('DELETE', `/webhook-endpoints/${id}`, undefined, 204)
	}
})

test('deliveries are listed newest first, by status, type, mail, contact and time, page by page', async (t) => {
	const { endpoint, track, turn, deliveries, receiver, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*', 'contact.*'])
	await track('one', 'ann@example.org')
	await track('two', 'bob@example.org')
	receiver.answer = (response, { type }) =>
		void response.writeHead(type === 'event.two' ? 500 : 200).end()
	await turn(id)
	const types = async (query: string) => (await deliveries(id, query)).data.map(({ type }) => type)
	t.deepEqual(await types('?type=event.one'), ['event.one'])
	t.deepEqual(await types('?status=PENDING'), ['event.two'])
	const { rows } = await pool.query<{ id: string }>(
		`select id from contacts where email = 'bob@example.org'`,
	)
	t.deepEqual(await types(`?contactId=${rows[0]!.id}&type=event.two`), ['event.two'])
	t.deepEqual(await types(`?emailId=${rows[0]!.id}`), [])
	t.deepEqual(await types('?to=2026-01-01T00:00:00Z'), [])
	const all = await types('?from=2026-01-01T00:00:00Z')
	const page = await deliveries(id, '?limit=2')
	t.is(page.total, all.length)
	t.true(page.hasMore)
	const rest = await types(`?cursor=${page.cursor}`)
	t.deepEqual([...page.data.map(({ type }) => type), ...rest], all)
})

test('a delivery is listed and replayed by its own time, whatever its id says', async (t) => {
	const { endpoint, track, turn, deliveries, receiver, ask, replay, pool } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	await track('early')
	await track('late')
	await turn(id)
	await pool.query(`update webhook_deliveries set occurred_at = uuid_extract_timestamp(id)
		+ case type when 'event.early' then interval '-5 seconds' else interval '5 seconds' end`)
	for (const { type, occurredAt } of (await deliveries(id)).data) {
		const beside = (ms: number) => new Date(Date.parse(occurredAt) + ms).toISOString()
		const period = { from: occurredAt, to: occurredAt, only: 'all' }
		const listed = await deliveries(id, `?from=${occurredAt}&to=${occurredAt}`)
		t.deepEqual([listed.data.map((one) => one.type), listed.total], [[type], 1])
		t.is((await deliveries(id, `?type=${type}&from=${beside(1)}`)).total, 0)
		t.is((await deliveries(id, `?type=${type}&to=${beside(-1)}`)).total, 0)
		receiver.heard = []
		const { jobId } = await ask<{ jobId: string }>(
			'POST',
			`/webhook-endpoints/${id}/replay`,
			period,
			202,
		)
		await replay(jobId)
		await turn(id)
		t.deepEqual(
			receiver.heard.map((one) => one.type),
			[type],
		)
	}
})

test('connections are used again', async (t) => {
	const { endpoint, track, turn, receiver } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (let i = 0; i < 100; i++) await track('x')
	await turn(id)
	t.is(receiver.heard.length, 100)
	t.true(receiver.connections <= 20, `${receiver.connections}`)
})

test('a page of deliveries is as small as its texts, however well they are compressed', async (t) => {
	const { endpoint, track, pool, project } = await setupWebhooks(t)
	const { id } = await endpoint(['event.*'])
	for (let n = 0; n < 40; n++) await track('signup', 'ann@example.org', { a: '"'.repeat(32_000) })
	const { rows } = await pool.query<{ updatedAt: Date }>(
		'select updated_at as "updatedAt" from webhook_endpoints',
	)
	const [{ updatedAt }] = rows as [{ updatedAt: Date }]
	const key = { projectId: project.id, endpointId: id }
	await unpackBatches(pool, { ...key, limit: 1000 })
	const page = await dueDeliveries(pool, { ...key, updatedAt, limit: 200, isOrdered: false })
	t.true(page.length > 1)
	t.true(page.length < 20, `${page.length}`)
})
