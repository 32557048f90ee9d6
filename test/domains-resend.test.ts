import { setTimeout as sleep } from 'node:timers/promises'
import { MockActivityEnvironment } from '@temporalio/testing'
import test from 'ava'
import { createDns } from '../outside/domains/dns.ts'
import { fullName } from '../outside/domains/resend.ts'
import { until } from '../bench/load.ts'
import { taskQueues } from '../workflows/task-queues.ts'
import { foundOf, logger, statuses } from './helpers/domains.ts'
import { setupResend } from './helpers/domains-resend.ts'
import { isEnvelope } from './helpers/envelope.ts'

/** For tests with deliberate delays, because a busy machine is slow. */
const patient = { timeoutMs: 120_000, patienceMs: 120_000 }

test('with Resend a domain is set up there once, shows its records, and is verified when Resend says so', async (t) => {
	const { resend, add, own, sweep, verify } = await setupResend(t)
	const added = await add('example.org')
	t.deepEqual(
		added.records.map(({ purpose, type, name }) => [purpose, type, name]),
		[
			['MX', 'MX', 'send'],
			['SPF', 'TXT', 'send'],
			['DKIM', 'TXT', 'resend._domainkey'],
			['DMARC', 'TXT', '_dmarc.example.org'],
			['OWNERSHIP', 'TXT', '_tempost.example.org'],
		],
	)
	t.like(added, { verified: false })
	t.regex(added.lastError!, /MX \(MX send\), SPF \(TXT send\), DKIM/)
	t.is(resend.find('example.org')!.status, 'pending')
	resend.settle('example.org', 'verified')
	t.like(await sweep(), { verified: 0 })
	t.regex((await verify(added.id)).lastError!, /no TXT record tempost-domain=/)
	own(added)
	t.like(await sweep(), { verified: 1 })
	t.like(await verify(added.id), { verified: true, lastError: null })
	resend.settle('example.org', 'failed')
	await sweep()
	await sweep()
	t.like(await sweep(), { lost: 1 })
	t.is(resend.domains.size, 1)
})

test('a domain that may send stays verified, whether or not it may receive', async (t) => {
	const { resend, add, own, sweep, verify } = await setupResend(t)
	const added = await add('example.org')
	own(added)
	resend.settle('example.org', 'verified')
	t.like(await sweep(), { verified: 1 })
	const before = resend.requests.length
	for (const status of ['partially_verified', 'partially_failed'] as const) {
		resend.expectReceiving('example.org', status)
		for (let turn = 0; turn < 3; turn++) t.like(await sweep(), { lost: 0 })
		t.like(await verify(added.id), { verified: true, lastError: null })
	}
	t.true(resend.requests.slice(before).every((request) => request.startsWith('GET')))
	resend.find('example.org')!.records.find(({ record }) => record === 'DKIM')!.status = 'failed'
	await sweep()
	await sweep()
	t.like(await sweep(), { lost: 1 })
})

test('a sweep asks Resend about a new domain once its owner has set the token', async (t) => {
	const { resend, add, own, sweep, zone } = await setupResend(t)
	const added = await add('example.org')
	resend.settle('example.org', 'verified')
	zone['resend._domainkey.example.org'] = { TXT: ['p=MIGf'] }
	const before = resend.requests.length
	t.like(await sweep(), { checked: 1, verified: 0 })
	t.is(resend.requests.length, before)
	own(added)
	t.like(await sweep(), { verified: 1 })
	t.true(resend.requests.length > before)
})

test('each record of Resend shows what DNS has under its full name', async (t) => {
	const { add, own, verify, zone } = await setupResend(t)
	const added = await add('example.org')
	t.deepEqual(foundOf(added), { MX: [], SPF: [], DKIM: [], DMARC: [], OWNERSHIP: [] })
	own(added)
	Object.assign(zone, {
		'send.example.org': { TXT: ['v=spf1 -all'], MX: ['10 feedback.example.net'] },
		'resend._domainkey.example.org': 'SERVFAIL',
	})
	t.deepEqual(foundOf(await verify(added.id)), {
		MX: ['10 feedback.example.net'],
		SPF: ['v=spf1 -all'],
		DKIM: null,
		DMARC: [],
		OWNERSHIP: [added.records.find(({ purpose }) => purpose === 'OWNERSHIP')!.value],
	})
	t.is(fullName('send.news', 'news.example.org'), 'send.news.example.org')
	t.is(fullName('resend._domainkey.a.b', 'a.b.example.org'), 'resend._domainkey.a.b.example.org')
	t.is(fullName('send.example.org', 'example.org'), 'send.example.org')
})

test('a domain whose set-up at Resend was interrupted is set up there again, once', async (t) => {
	const { resend, add, pool, verify } = await setupResend(t)
	const added = await add('example.org')
	// Our process died before it could store the id, or someone removed the domain at Resend by hand.
	await pool.query('update domains set provider_domain_id = null')
	await verify(added.id)
	t.is(resend.domains.size, 1)
	resend.domains.clear()
	await verify(added.id)
	t.is(resend.domains.size, 1)
})

test('while Resend refuses or is silent no domain is added, and others stay unchanged', async (t) => {
	const { resend, add, call, another, withSecretKey: headers } = await setupResend(t)
	const known = await add('example.org')
	const { app } = await another({ timeoutMs: 200 })
	for (const fault of [{ status: 429, name: 'rate_limit_exceeded' }, 'silence'] as const) {
		resend.fail(fault)
		const payload = { domain: 'example.com' }
		const answer = await app.inject({ method: 'POST', url: '/domains', headers, payload })
		const { message } = isEnvelope(t, answer, 503, 'EXTERNAL_SERVICE_ERROR')
		t.regex(message, /Resend could not be asked/)
		t.truthy(answer.headers['retry-after'])
		const checked = await app.inject({ url: `/domains/${known.id}/verify`, headers })
		t.is(checked.statusCode, 200)
		t.deepEqual(checked.json().records, known.records)
		t.regex(checked.json().lastError, /Resend could not be asked/)
	}
	resend.fail(undefined)
	t.is((await call('POST', '/domains', { domain: 'example.com' })).json().records.length, 5)
})

test("one domain's slow DNS does not delay other domains", async (t) => {
	const slowAnswer = Promise.withResolvers<string[]>()
	const txt = async (name: string) => (name === '_dmarc.slow.example' ? slowAnswer.promise : [])
	const { resend, add } = await setupResend(t, { ...patient, dns: { ...createDns([]), txt } })
	const slow = add('slow.example')
	t.true(await until(async () => resend.requests.length > 0, 30_000))
	t.is((await add('quick.example')).records.length, 5)
	slowAnswer.resolve(['v=DMARC1; p=none'])
	t.is(statuses(await slow)['DMARC'], 'verified')
})

test('a check behind many others is refused for the time being, and changes nothing', async (t) => {
	const { resend, add, another, pool, withSecretKey: headers } = await setupResend(t)
	const known = await add('example.org')
	const { app } = await another({ ...patient, patienceMs: 1000 })
	const post = (domain: string) =>
		app.inject({ method: 'POST', url: '/domains', headers, payload: { domain } })
	resend.fail('silence')
	const before = resend.requests.length
	const first = post('first.example')
	t.true(await until(async () => resend.requests.length > before, 30_000))
	const others = [
		post('other.example'),
		app.inject({ url: `/domains/${known.id}/verify`, headers }),
	]
	const haveCome = async () => {
		const { rows } = await pool.query(
			`select cardinality(tries) = 4 and (select count(*) = 3 from domains) as all from throttles`,
		)
		return rows[0].all
	}
	t.true(await until(haveCome, 30_000))
	await sleep(1200)
	resend.hangUp()
	isEnvelope(t, await first, 503, 'EXTERNAL_SERVICE_ERROR')
	for (const answer of await Promise.all(others)) {
		const { message } = isEnvelope(t, answer, 503, 'EXTERNAL_SERVICE_ERROR')
		t.regex(message, /Too many domains/)
		t.truthy(answer.headers['retry-after'])
	}
	t.is(resend.requests.length, before + 1)
	const { rows } = await pool.query('select domain, last_error from domains')
	t.deepEqual(rows, [{ domain: 'example.org', last_error: known.lastError }])
})

test('a check of a domain that is just being added finds it set up, and sets up nothing', async (t) => {
	const { resend, add, pool, sweepDue, verify } = await setupResend(t, patient)
	resend.hold('GET /domains')
	const adding = add('example.org')
	t.true(await until(async () => resend.held.length > 0, 30_000))
	const { rows } = await pool.query('select id from domains')
	const checking = verify(rows[0].id)
	const hasCome = async () =>
		(await pool.query('select from throttles where cardinality(tries) = 2')).rowCount === 1
	t.true(await until(hasCome, 30_000))
	// The sweep leaves the domain to the request that is adding it.
	t.like(await sweepDue(), { checked: 0 })
	resend.hold(undefined)
	resend.held.shift()!()
	const [added, checked] = await Promise.all([adding, checking])
	t.deepEqual(checked.records, added.records)
	t.deepEqual(
		resend.requests.filter((route) => /^(POST \/domains|DELETE .*)$/.test(route)),
		['POST /domains'],
	)
})

test('when two processes set up a domain at once, the one at Resend is kept', async (t) => {
	const { resend, add, another, pool, verify, withSecretKey } = await setupResend(t, patient)
	const { app } = await another(patient)
	resend.hold('POST /domains')
	const adding = add('example.org')
	t.true(await until(async () => resend.held.length === 1, 30_000))
	const { rows } = await pool.query('select id from domains')
	const url = `/domains/${rows[0].id}/verify`
	const checking = app.inject({ url, headers: withSecretKey })
	t.true(await until(async () => resend.held.length === 2, 30_000))
	resend.hold(undefined)
	resend.held.shift()!()
	await adding
	resend.held.shift()!()
	t.is((await checking).statusCode, 200)
	const kept = await pool.query('select provider_domain_id as id from domains')
	t.deepEqual(kept.rows, [{ id: resend.find('example.org')!.id }])
	const requests = resend.requests.length
	t.is((await verify(rows[0].id)).records.length, 5)
	t.false(resend.requests.slice(requests).includes('POST /domains'))
})

test('a domain that is proved while the request that adds it waits stays added', async (t) => {
	const {
		resend,
		own,
		another,
		pool,
		verify,
		withSecretKey: headers,
	} = await setupResend(t, patient)
	const { app: busy } = await another({ ...patient, patienceMs: 1000 })
	const post = (domain: string) =>
		busy.inject({ method: 'POST', url: '/domains', headers, payload: { domain } })
	resend.hold('GET /domains')
	const first = post('first.example')
	t.true(await until(async () => resend.held.length === 1, 30_000))
	resend.hold(undefined)
	const adding = post('example.org')
	const arrived = async () =>
		(await pool.query(`select id from domains where domain = 'example.org'`)).rows
	t.true(await until(async () => (await arrived()).length === 1, 30_000))
	const [{ id }] = await arrived()
	own(await verify(id))
	resend.settle('example.org', 'verified')
	t.true((await verify(id)).verified)
	await sleep(1200)
	resend.held.shift()!()
	t.is((await first).statusCode, 201)
	const added = await adding
	t.is(added.statusCode, 201, added.body)
	t.like(added.json(), { id, verified: true })
	t.true((await verify(id)).verified)
})

test('a domain that is removed while it is set up leaves nothing at Resend', async (t) => {
	const { resend, call, pool } = await setupResend(t, patient)
	resend.hold('POST /domains')
	const adding = call('POST', '/domains', { domain: 'example.org' })
	t.true(await until(async () => resend.held.length === 1, 30_000))
	const { rows } = await pool.query('select id from domains')
	t.is((await call('DELETE', `/domains/${rows[0].id}`)).statusCode, 204)
	resend.held.shift()!()
	isEnvelope(t, await adding, 503, 'EXTERNAL_SERVICE_ERROR')
	t.is(resend.domains.size, 0)
})

test('a domain that another party verified at Resend is not given away here', async (t) => {
	const { resend, add, call, activities, own, pool, verify } = await setupResend(t)
	const first = await add('example.org')
	own(first)
	resend.settle('example.org', 'verified')
	t.like(await verify(first.id), { verified: true, lastError: null })
	const { id } = resend.find('example.org')!
	t.is((await call('DELETE', `/domains/${first.id}`)).statusCode, 204)
	// Before the removal reaches the provider, another project adds the domain.
	const second = await add('example.org')
	t.like(second, { verified: false })
	t.regex(second.lastError!, /already set up at Resend/)
	const { rows } = await pool.query('select workflow_type, task_queue, payload from outbox')
	t.deepEqual(rows, [
		{
			workflow_type: 'removeDomain',
			task_queue: taskQueues.core,
			payload: { providerDomainId: id },
		},
	])
	const remove = () =>
		new MockActivityEnvironment({}, { logger }).run(activities.removeProviderDomain, id)
	await remove()
	await remove() // the domain no longer exists, as wanted
	t.is(resend.domains.size, 0)
	t.false((await verify(second.id)).verified)
	t.not(resend.find('example.org')!.id, id)
})

test('projects that add the same domain share it at Resend, and a token in DNS shows its owner', async (t) => {
	const { resend, add, call, own, rival, verify, sweep, zone } = await setupResend(t)
	const squatted = await add('example.org')
	const owner = await rival()
	const claim = await owner.add('example.org')
	t.deepEqual(resend.requests.filter((route) => route === 'POST /domains').length, 1)
	t.is(claim.records.find(({ purpose }) => purpose === 'DKIM')!.value, 'p=MIGf')

	own(claim)
	resend.settle('example.org', 'verified')
	t.false((await verify(squatted.id)).verified)
	t.like(await sweep(), { verified: 1 })
	t.true((await owner.verify(claim.id)).json().verified)
	isEnvelope(t, await call('GET', `/domains/${squatted.id}/verify`), 409, 'CONFLICT')

	// Without its token the project loses the domain, and the project with a token gets it.
	zone['_tempost.example.org'] = { TXT: [] }
	own(squatted)
	for (let n = 0; n < 2; n++) t.like(await sweep(), { lost: 0, verified: 0 })
	t.like(await sweep(), { lost: 1 })
	t.true((await verify(squatted.id)).verified)
})

test('a domain stays at Resend while a project uses it', async (t) => {
	const { resend, add, call, activities, pool, rival, verify } = await setupResend(t)
	const mine = await add('example.org')
	const other = await rival()
	const theirs = await other.add('example.org')
	const { id } = resend.find('example.org')!
	const remove = () =>
		new MockActivityEnvironment({}, { logger }).run(activities.removeProviderDomain, id)
	t.is((await other.call('DELETE', `/domains/${theirs.id}`)).statusCode, 204)
	await remove()
	t.is((await verify(mine.id)).records.length, 5)
	t.is(resend.find('example.org')!.id, id)
	t.is((await call('DELETE', `/domains/${mine.id}`)).statusCode, 204)
	await remove()
	t.is(resend.domains.size, 0)
	const { rows } = await pool.query('select workflow_type from outbox')
	t.is(rows.length, 2)
})

test('a domain verified before tokens existed needs one only after it was lost', async (t) => {
	const { resend, add, own, pool, sweep, verify } = await setupResend(t)
	const added = await add('example.org')
	own(added)
	resend.settle('example.org', 'verified')
	t.like(await verify(added.id), { verified: true, lastError: null })
	await pool.query('update domains set token_exempt = true')
	const records = (await verify(added.id)).records
	t.is(records.length, 4)
	resend.settle('example.org', 'failed')
	for (let n = 0; n < 3; n++) await sweep()
	t.is((await verify(added.id)).records.length, 5)
})
