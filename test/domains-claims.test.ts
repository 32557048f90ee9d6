import test from 'ava'
import { dnsServer } from './helpers/dns-server.ts'
import { setupDomains, smtp, zoneOf } from './helpers/domains.ts'
import { isEnvelope } from './helpers/envelope.ts'
import { lockWaits } from './helpers/locks.ts'

const taken = { domain: 'example.org' }

test('a pending domain is open to other projects: the first to prove it gets it', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, rival, verify } = await setupDomains(t, smtp, [dns.address])
	const squatted = await add('example.org')
	const owner = await rival()
	const own = await owner.add('example.org')
	isEnvelope(t, await owner.call('POST', '/domains', { domain: 'example.org' }), 409, 'CONFLICT')

	Object.assign(dns.zone, zoneOf(own))
	t.false((await verify(squatted.id)).verified)
	t.true((await owner.verify(own.id)).json().verified)
	const error = isEnvelope(t, await call('GET', `/domains/${squatted.id}/verify`), 409, 'CONFLICT')
	t.deepEqual(error.details, taken)
	t.false(JSON.stringify(error).includes(owner.project.id))
	t.false(JSON.stringify(error).includes(owner.project.name))
	const third = await rival()
	const late = await third.call('POST', '/domains', { domain: 'example.org' })
	t.deepEqual(isEnvelope(t, late, 409, 'CONFLICT').details, taken)
})

test('mail is sent only from the project that has proved the domain', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, rival } = await setupDomains(t, smtp, [dns.address])
	await add('example.org')
	const owner = await rival()
	const own = await owner.add('example.org')
	const mail = { to: 'a@example.net', from: 'me@example.org', subject: 'Hi', body: 'Hi' }
	isEnvelope(t, await owner.call('POST', '/v1/send', mail), 403, 'INTERNAL_SERVER_ERROR')
	Object.assign(dns.zone, zoneOf(own))
	t.true((await owner.verify(own.id)).json().verified)
	t.is((await owner.call('POST', '/v1/send', mail)).statusCode, 200)
	isEnvelope(t, await call('POST', '/v1/send', mail), 403, 'INTERNAL_SERVER_ERROR')
})

test('a proof in DNS moves a domain only once its holder has lost theirs', async (t) => {
	const dns = await dnsServer(t)
	const { add, rival, sweep, verify } = await setupDomains(t, smtp, [dns.address])
	const first = await add('example.org')
	const second = await rival()
	const claim = await second.add('example.org')
	Object.assign(dns.zone, zoneOf(first))
	t.true((await verify(first.id)).verified)

	// Both have their records in DNS: further checks change nothing.
	Object.assign(dns.zone, zoneOf(claim))
	for (let n = 0; n < 4; n++) {
		t.like(await sweep(), { verified: 0, lost: 0 })
		isEnvelope(t, await second.verify(claim.id), 409, 'CONFLICT')
	}
	const [listed] = await second.list()
	t.like(listed, { verified: false, status: 'pending' })
	t.regex(listed!.lastError!, /verified in another project/)

	delete dns.zone[first.records[0]!.name]
	for (let n = 0; n < 2; n++) t.like(await sweep(), { verified: 0, lost: 0 })
	isEnvelope(t, await second.verify(claim.id), 409, 'CONFLICT')
	t.like(await sweep(), { lost: 1 })
	t.true((await second.verify(claim.id)).json().verified)
	Object.assign(dns.zone, zoneOf(first))
	t.like(await sweep(), { verified: 0, lost: 0 })
})

test('if two projects prove a domain at the same moment, one gets it', async (t) => {
	const dns = await dnsServer(t)
	const { add, call, pool, rival } = await setupDomains(t, smtp, [dns.address])
	const one = await add('example.org')
	const second = await rival()
	const other = await second.add('example.org')
	Object.assign(dns.zone, zoneOf(one), zoneOf(other))
	const blocker = await pool.connect()
	await blocker.query('begin; select from domains for update')
	const answers = [call('GET', `/domains/${one.id}/verify`), second.verify(other.id)]
	await lockWaits(t, pool, 2)
	await blocker.query('commit')
	blocker.release()
	const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode)
	t.deepEqual(
		statuses.toSorted((a, b) => a - b),
		[200, 409],
	)
	const { rows } = await pool.query('select from domains where verified_at is not null')
	t.is(rows.length, 1)
})

test('the sweep gives a domain to one of two that prove it, and leaves the other pending', async (t) => {
	const dns = await dnsServer(t)
	const { add, pool, rival, sweep } = await setupDomains(t, smtp, [dns.address])
	const one = await add('example.org')
	const other = await (await rival()).add('example.org')
	Object.assign(dns.zone, zoneOf(one), zoneOf(other))
	t.like(await sweep(), { checked: 2, verified: 1, lost: 0 })
	const { rows } = await pool.query('select from domains where verified_at is not null')
	t.is(rows.length, 1)
})
